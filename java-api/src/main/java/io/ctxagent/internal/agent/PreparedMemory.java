package io.ctxagent.internal.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What {@link Memory} and {@link CurrentThread} copy into their constants. Made once, as a whole or
 * not at all, by code that can be run again; so their initialisers cannot fail.
 */
public final class PreparedMemory {
    private static PreparedMemory instance;

    final ByteBuffer buffer = Bridge.slab();
    final MemoryAccess access = new MemoryAccess();
    /** Of the checked access to the slab, else {@code null}. */
    final VarHandle ints = access.isDirect
            ? null
            : MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    final VarHandle longs = access.isDirect
            ? null
            : MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    final MethodHandle threadId = access.isDirect ? null : ThreadIds.handle();
    final Class<?> virtualThreads = ThreadIds.virtualThreads();
    /** Where neither a field nor a method that nobody overrides has the id of a thread. */
    final ThreadLocal<Long> keys =
            Bridge.layout().keyFromAgent && !access.isDirect ? new ThreadLocal<>() : null;

    private PreparedMemory() {}

    /** Makes it; the agent must be connected. */
    public static void make() {
        if (instance == null) {
            instance = new PreparedMemory();
        }
    }

    /** {@code null} until {@link #make} succeeded. */
    static PreparedMemory instance() {
        return instance;
    }
}
