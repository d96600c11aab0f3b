package java.net;

import java.io.IOException;
import java.net.spi.InetAddressResolver;
import java.util.Arrays;
import java.util.stream.Stream;
import jdk.internal.javac.NetEntries;

/**
 * What the agent has classes of this package call in place of what they called: it does the same,
 * and tells {@link NetEntries}. The agent defines it here.
 */
final class NetCalls {
    private NetCalls() {}

    static void connect(SocketImpl socket, SocketAddress address, int timeout) throws IOException {
        Object begun = NetEntries.begin(NetEntries.NET, address);
        try {
            socket.connect(address, timeout);
        } catch (Throwable failure) {
            NetEntries.end(begun, failure);
            throw failure;
        }
        NetEntries.end(begun, null);
    }

    /** Of JDK 18 and later. To callers no stream is as good as an empty one: unknown host. */
    @SuppressWarnings("unchecked")
    static Stream<InetAddress> lookUp(
            InetAddressResolver resolver, String host, InetAddressResolver.LookupPolicy policy)
            throws UnknownHostException {
        Object begun = NetEntries.begin(NetEntries.DNS, host);
        if (begun == null) {
            return resolver.lookupByName(host, policy);
        }
        Object[] found;
        try {
            Stream<InetAddress> stream = resolver.lookupByName(host, policy);
            found = stream == null ? new Object[0] : stream.toArray();
        } catch (Throwable failure) {
            NetEntries.end(begun, failure);
            throw failure;
        }
        boolean isKnown = found.length > 0;
        NetEntries.end(begun, isKnown ? found : new UnknownHostException(host));
        return (Stream<InetAddress>) (Stream<?>) Arrays.stream(found);
    }

    /** Of a JDK before 18. */
    static InetAddress[] lookUpAll(InetAddressImpl resolver, String host)
            throws UnknownHostException {
        Object begun = NetEntries.begin(NetEntries.DNS, host);
        InetAddress[] found;
        try {
            found = resolver.lookupAllHostAddr(host);
        } catch (Throwable failure) {
            NetEntries.end(begun, failure);
            throw failure;
        }
        NetEntries.end(begun, found);
        return found;
    }
}
