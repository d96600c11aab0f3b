package jakarta.servlet.http;

import jakarta.servlet.ServletRequest;

public interface HttpServletRequest extends ServletRequest {
    String getMethod();

    String getContextPath();

    HttpServletMapping getHttpServletMapping();
}
