package org.eclipse.jetty.server;

import org.eclipse.jetty.util.Callback;

public class Server {
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        throw new AssertionError();
    }
}
