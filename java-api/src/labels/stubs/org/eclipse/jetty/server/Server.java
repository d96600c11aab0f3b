package org.eclipse.jetty.server;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.eclipse.jetty.util.Callback;

public class Server {
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        throw new AssertionError();
    }

    public void handle(HttpChannel channel) throws IOException, ServletException {
        throw new AssertionError();
    }

    public void handleAsync(HttpChannel channel) throws IOException, ServletException {
        throw new AssertionError();
    }
}
