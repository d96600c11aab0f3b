package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletMapping;
import java.io.IOException;
import org.apache.catalina.Valve;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;

/** Tomcat from 10 on, where it hands a request to the container. */
public final class Tomcat {
    private static final int SOURCE = Labels.TOMCAT;

    private Tomcat() {}

    public static void invoke(Valve first, Request request, Response response)
            throws IOException, ServletException {
        Object scope = Labels.isOn(SOURCE) ? open(request) : null;
        try {
            first.invoke(request, response);
        } finally {
            Labels.close(SOURCE, scope);
        }
    }

    private static Object open(Request request) {
        try {
            return Labels.open(SOURCE, HttpOperation.of(request.getMethod(), route(request)));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    private static String route(Request request) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        String pattern = mapping == null ? null : mapping.getPattern();
        return HttpOperation.routeOfServlet(request.getContextPath(), pattern);
    }
}
