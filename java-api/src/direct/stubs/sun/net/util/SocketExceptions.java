package sun.net.util;

import java.io.IOException;
import java.net.SocketAddress;

/** As of JDK 17, for compilers of JDK 25 and later. */
public final class SocketExceptions {
    private SocketExceptions() {}

    public static IOException of(IOException failure, SocketAddress address) {
        return failure;
    }
}
