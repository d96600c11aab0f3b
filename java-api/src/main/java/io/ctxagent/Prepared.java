package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Layout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * What the classes of the hot path copy into their constants, see {@link ContextSupport}. Made once, as a whole or not at all.
 */
final class Prepared {
    /** {@code null} until it is made; only the initialisers of classes that are used while contexts are on read it. */
    private static Prepared parts;

    final Layout layout = Bridge.layout();
    final ByteBuffer buffer = Bridge.slab();
    final MemoryAccess access = new MemoryAccess(buffer);
    /** Of the checked way into the slab, else {@code null}. */
    final VarHandle ints = access.isDirect ? null : MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    final VarHandle longs = access.isDirect ? null : MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Of the direct way, else {@code null}. */
    final VarHandle arrayLongs = access.isDirect ? MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN) : null;
    final MethodHandle threadId = access.isDirect ? null : ThreadId.handle();
    final Class<?> virtualThreads = ThreadId.virtualThreads();
    /** Values of a class of the JDK, see {@link Threads}. */
    final ThreadLocal<Long> keys = layout.keyFromAgent ? new ThreadLocal<>() : null;
    final Claims.Keepers keepers = new Claims.Keepers(layout.blocks);
    final Repairs.Memos memos = new Repairs.Memos(layout.blocks);
    final ValueIds.Entry noValue = KeyTable.get().noValue;
    final ValueIds.Entry[] recentValues = new ValueIds.Entry[InternedKey.RECENT_SIZE];

    private Prepared() {
        Arrays.fill(recentValues, noValue);
    }

    static void make() {
        if (parts == null) {
            parts = new Prepared();
        }
    }

    static Prepared parts() {
        return parts;
    }
}
