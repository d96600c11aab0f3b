package org.apache.tomcat.util.net;

public final class AbstractEndpoint {
    public interface Handler {
        enum SocketState {
            CLOSED
        }
    }
}
