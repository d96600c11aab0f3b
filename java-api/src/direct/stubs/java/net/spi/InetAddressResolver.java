package java.net.spi;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.stream.Stream;

/** As of JDK 18, for the compiler of JDK 17. */
public interface InetAddressResolver {
    Stream<InetAddress> lookupByName(String host, LookupPolicy policy) throws UnknownHostException;

    final class LookupPolicy {}
}
