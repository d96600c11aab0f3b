package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletMapping;
import java.io.IOException;
import org.apache.catalina.Valve;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.coyote.Adapter;

/** Tomcat from 9 on: where a connector has read a request, and where its servlet is known. */
public final class Tomcat {
    private static final int SOURCE = Labels.TOMCAT;

    private Tomcat() {}

    /** All that the request costs from here on is its own. What it asks for is known soon. */
    public static void serve(
            Adapter adapter, org.apache.coyote.Request request, org.apache.coyote.Response response)
            throws Exception {
        Object scope = Labels.open(SOURCE, HttpOperation.UNKNOWN);
        try {
            adapter.service(request, response);
        } finally {
            Labels.close(SOURCE, scope, scope == null ? 0 : status(response));
        }
    }

    private static int status(org.apache.coyote.Response response) {
        try {
            return response.getStatus();
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return 0;
        }
    }

    public static void invoke(Valve first, Request request, Response response)
            throws IOException, ServletException {
        if (Labels.isOn(SOURCE)) {
            try {
                Labels.refine(SOURCE, operation(request));
            } catch (Throwable failure) {
                Labels.failed(SOURCE, failure);
            }
        }
        first.invoke(request, response);
    }

    /** A request that goes on, maybe on another thread. */
    public static void resume(Valve first, Request request, Response response)
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
            return Labels.open(SOURCE, operation(request));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    private static String operation(Request request) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        String pattern = mapping == null ? null : mapping.getPattern();
        String route = HttpOperation.routeOfServlet(request.getContextPath(), pattern);
        return HttpOperation.of(request.getMethod(), route);
    }
}
