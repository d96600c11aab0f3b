package jdk.internal.javac;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import jdk.internal.util.Exceptions;
import sun.net.util.SocketExceptions;

/**
 * What the agent has channels of the JDK call where they connect: tells {@link NetEntries} when
 * that begins, and how it ends. Defined beside that class.
 *
 * <p>A method that cannot connect does two things, one after the other: it closes its channel, and
 * it adds the address to its exception. The call of the first one has the channel, that of the
 * second one has the exception; the thread that makes both keeps what it has in between.
 */
public final class NetChannels {
    /** Channels that are being connected. Those that nobody closes go with them. */
    private static final Map<Object, Object> pending = newMap();
    /** Those that a thread waits for: it tells how that ends, whoever closes the channel. */
    private static final Map<Object, Object> waited = newMap();

    /** What began, {@link #NOTHING}, or the exception. */
    private static final ThreadLocal<Object> failing = new ThreadLocal<>();

    private static final Object NOTHING = new Object();

    private NetChannels() {}

    private static Map<Object, Object> newMap() {
        return Collections.synchronizedMap(new WeakHashMap<>());
    }

    /** A socket channel is to connect, or refuses to do so again. */
    public static void connects(Object channel, boolean isBlocking, Object address) {
        SocketChannel socket = (SocketChannel) channel;
        if (!socket.isConnected() && !socket.isConnectionPending()) {
            begin(isBlocking ? waited : pending, channel, address);
        }
    }

    /** It tried to connect. One that is not connected yet tries again, or is closed. */
    public static void tried(Object channel, boolean isConnected) {
        if (isConnected) {
            connected(channel);
        }
    }

    /** Somebody closes a socket channel. */
    public static void closes(Object channel) {
        Object begun = taken(pending, channel);
        if (begun != null) {
            NetEntries.end(begun, new ClosedChannelException());
        }
    }

    /** An asynchronous channel is to connect, or refuses to. */
    public static void connectsLater(Object channel, Object address) {
        AsynchronousSocketChannel socket = (AsynchronousSocketChannel) channel;
        try {
            if (address instanceof InetSocketAddress
                    && !((InetSocketAddress) address).isUnresolved()
                    && socket.getRemoteAddress() == null) {
                begin(pending, channel, address);
            }
        } catch (IOException closed) {
            // It refuses.
        }
    }

    public static void connected(Object channel) {
        NetEntries.end(taken(channel), null);
    }

    // ---- in place of calls where a connect failed -----------------------------------------------

    /** A socket channel, before its exception gets the address. */
    public static void close(Object channel) throws IOException {
        Object begun = taken(channel);
        try {
            ((Closeable) channel).close();
        } catch (Throwable failure) {
            NetEntries.end(begun, failure);
            throw failure;
        }
        keep(begun == null ? NOTHING : begun);
    }

    /** An asynchronous channel, after its exception got the address. */
    public static void closeLater(Object channel) throws IOException {
        Object failure = kept();
        Object begun = taken(channel);
        if (begun != null) {
            NetEntries.end(begun, failure == null ? new ClosedChannelException() : failure);
        }
        ((Closeable) channel).close();
    }

    /** Of a JDK before 25. */
    public static IOException of(IOException failure, SocketAddress address) {
        failed(failure);
        return SocketExceptions.of(failure, address);
    }

    /** Of JDK 25 and later. */
    public static IOException ioException(IOException failure, SocketAddress address) {
        failed(failure);
        return Exceptions.ioException(failure, address);
    }

    private static void failed(IOException failure) {
        Object begun = kept();
        if (begun == null) {
            keep(failure);
        } else if (begun != NOTHING) {
            NetEntries.end(begun, failure);
        }
    }

    // ---- between begin and end ------------------------------------------------------------------

    private static void begin(Map<Object, Object> channels, Object channel, Object address) {
        Object begun = NetEntries.begin(NetEntries.NET, address);
        if (begun != null) {
            try {
                channels.putIfAbsent(channel, begun);
            } catch (Throwable noMemory) {
                // It has no entry.
            }
        }
    }

    private static Object taken(Object channel) {
        Object begun = taken(pending, channel);
        return begun == null ? taken(waited, channel) : begun;
    }

    private static Object taken(Map<Object, Object> channels, Object channel) {
        try {
            return channels.isEmpty() ? null : channels.remove(channel);
        } catch (Throwable noMemory) {
            return null;
        }
    }

    private static void keep(Object value) {
        try {
            failing.set(value);
        } catch (Throwable noMemory) {
            // It has no entry.
        }
    }

    private static Object kept() {
        try {
            Object value = failing.get();
            failing.remove();
            return value;
        } catch (Throwable noMemory) {
            return null;
        }
    }
}
