package org.apache.catalina;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;

public interface Valve {
    void invoke(Request request, Response response) throws IOException, ServletException;
}
