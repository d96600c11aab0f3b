package jakarta.servlet.http;

public interface HttpServletMapping {
    String getPattern();
}
