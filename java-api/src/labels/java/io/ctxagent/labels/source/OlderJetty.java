package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.eclipse.jetty.server.HttpChannel;
import org.eclipse.jetty.server.Server;

/** Jetty 10 and 11, where a channel hands a request to the handlers. */
public final class OlderJetty {
    private static final int SOURCE = Labels.JETTY;

    private OlderJetty() {}

    public static void handle(Server server, HttpChannel channel)
            throws IOException, ServletException {
        Object scope = Labels.isOn(SOURCE) ? open(channel) : null;
        try {
            server.handle(channel);
        } finally {
            Labels.close(SOURCE, scope, 0);
        }
    }

    /** A request that goes on, maybe on another thread. */
    public static void handleAsync(Server server, HttpChannel channel)
            throws IOException, ServletException {
        Object scope = Labels.isOn(SOURCE) ? open(channel) : null;
        try {
            server.handleAsync(channel);
        } finally {
            Labels.close(SOURCE, scope);
        }
    }

    private static Object open(HttpChannel channel) {
        try {
            // A class here, an interface from 12 on.
            HttpServletRequest request = (HttpServletRequest) channel.getRequest();
            return Labels.open(SOURCE, HttpOperation.of(request.getMethod(), null));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }
}
