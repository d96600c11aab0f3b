package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Layout;
import io.ctxagent.internal.agent.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * What the classes of the hot path copy into their constants, see {@link ContextSupport}. Made once, as a whole or not at all.
 */
final class Prepared {
    /** {@code null} until it is made; only the initialisers of classes that are used while contexts are on read it. */
    private static Prepared parts;

    final Layout layout = Bridge.layout();
    /** Of the direct access to the slab, else {@code null}. */
    final VarHandle arrayLongs = Memory.DIRECT ? MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN) : null;
    final Claims.Keepers keepers = new Claims.Keepers(layout.blocks);
    final Repairs.Memos memos = new Repairs.Memos(layout.blocks);

    private Prepared() {
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
