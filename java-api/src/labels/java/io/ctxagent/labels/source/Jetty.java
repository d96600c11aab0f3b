package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;

/**
 * Jetty from 12 on, where it hands a request to its handlers; and from 10 on, where they call a
 * servlet.
 */
public final class Jetty {
    private static final int SOURCE = Labels.JETTY;

    private Jetty() {}

    public static boolean handle(
            Server server, Request request, Response response, Callback callback) throws Exception {
        Object scope = Labels.isOn(SOURCE) ? open(request) : null;
        try {
            return server.handle(request, response, callback);
        } finally {
            Labels.close(SOURCE, scope, scope == null ? 0 : status(response));
        }
    }

    private static int status(Response response) {
        try {
            return response.getStatus();
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return 0;
        }
    }

    private static Object open(Request request) {
        try {
            return Labels.open(SOURCE, HttpOperation.of(request.getMethod(), null));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    /** In place of {@code Servlet.service}. */
    public static void service(Servlet servlet, ServletRequest request, ServletResponse response)
            throws ServletException, IOException {
        if (Labels.isOn(SOURCE) && request instanceof HttpServletRequest) {
            refine((HttpServletRequest) request);
        }
        servlet.service(request, response);
    }

    private static void refine(HttpServletRequest request) {
        try {
            HttpServletMapping mapping = request.getHttpServletMapping();
            String pattern = mapping == null ? null : mapping.getPattern();
            String route = HttpOperation.routeOfServlet(request.getContextPath(), pattern);
            if (route != null && HttpOperation.isAskedFor(request.getDispatcherType())) {
                Labels.refine(SOURCE, HttpOperation.of(request.getMethod(), route));
            }
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }
}
