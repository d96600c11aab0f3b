package jdk.internal.util;

import java.io.IOException;
import java.net.SocketAddress;

/** As of JDK 25, for compilers of earlier ones. */
public final class Exceptions {
    private Exceptions() {}

    public static IOException ioException(IOException failure, SocketAddress address) {
        return failure;
    }
}
