package org.eclipse.jetty.server;

public class HttpChannel {
    public Request getRequest() {
        throw new AssertionError();
    }
}
