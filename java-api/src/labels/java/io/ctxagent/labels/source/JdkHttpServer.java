package io.ctxagent.labels.source;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import java.io.IOException;

/** The HTTP server of the JDK: the route is the path of the context that handles the request. */
public final class JdkHttpServer {
    private static final int SOURCE = Labels.HTTP_SERVER;

    private JdkHttpServer() {}

    public static void doFilter(Filter.Chain chain, HttpExchange exchange) throws IOException {
        Object scope = Labels.isOn(SOURCE) ? open(exchange) : null;
        try {
            chain.doFilter(exchange);
        } finally {
            Labels.close(SOURCE, scope, scope == null ? 0 : status(exchange));
        }
    }

    private static int status(HttpExchange exchange) {
        try {
            return exchange.getResponseCode();
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return 0;
        }
    }

    private static Object open(HttpExchange exchange) {
        try {
            String route = exchange.getHttpContext().getPath();
            return Labels.open(SOURCE, HttpOperation.of(exchange.getRequestMethod(), route));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }
}
