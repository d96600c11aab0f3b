package io.ctxagent.observe;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * What is known of a connect besides its length and its attributes.
 *
 * <p>Threads: any, as it does not change. Without the agent: there is none.
 *
 * @since 0.1
 */
public final class NetDetail {
    private final String host;
    private final int port;
    private final String address;
    private final String failure;

    NetDetail(Object subject, String failure) {
        if (subject instanceof InetSocketAddress) {
            InetSocketAddress inet = (InetSocketAddress) subject;
            InetAddress known = inet.getAddress();
            host = inet.getHostString();
            port = inet.getPort();
            address = known == null ? null : known.getHostAddress();
        } else {
            host = subject.toString();
            port = 0;
            address = null;
        }
        this.failure = failure;
    }

    /**
     * The host as the application named it, or the path of a Unix socket.
     *
     * @return the host, not {@code null}
     */
    public String host() {
        return host;
    }

    /**
     * The port.
     *
     * @return the port; 0 of a Unix socket
     */
    public int port() {
        return port;
    }

    /**
     * The address that it connected to.
     *
     * @return the address in digits; {@code null} if a proxy looks it up, and of a Unix socket
     */
    public String address() {
        return address;
    }

    /**
     * The class of the exception by which it failed: {@code java.net.ConnectException}, {@code
     * java.net.SocketTimeoutException}; {@code java.nio.channels.ClosedChannelException} of a
     * channel that was closed before it was connected.
     *
     * @return the name of the class, or {@code null} if it is connected
     */
    public String failure() {
        return failure;
    }

    /**
     * Address and failure, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        String to = host.equals(address) || address == null ? host : host + "/" + address;
        return to + ":" + port + (failure == null ? " connected" : " failed: " + failure);
    }
}
