package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * The end of a scope in all cases but the usual one, which {@code Scope} has. Takes the scope's
 * fields and never the scope, see rule 3 of {@link io.ctxagent.internal.agent.CompilerRules}.
 */
public final class ScopeClose {
    private ScopeClose() {
    }

    /**
     * Ends a scope. {@code closed}: it was closed before. The owner sees that of its own closes, and
     * of those by others that it carried out; another thread may not see it. {@code rawBytes}: those
     * of the raw area that the scope took.
     */
    public static void close(boolean closed, long block, long owner, int serial, int count,
            long places, long rawBytes, long w0, long w1, long w2, long w3, long w4, long w5,
            long w6, long w7) {
        if (CurrentThread.key() != owner) {
            Bridge.count(closed ? Misuse.DOUBLE_CLOSE : Misuse.CLOSE_ON_OTHER_THREAD);
            if (!closed && Slab.owner(block) == owner) {
                ForeignCloses.add(new ForeignClose(owner, block, serial, count, places, rawBytes,
                        new long[] {w0, w1, w2, w3, w4, w5, w6, w7}));
            }
            return;
        }
        if (Slab.owner(block) == owner) {
            if (Slab.hasForeignClose(block)) {
                ForeignCloses.carryOut(block, owner);
            }
            if (Slab.haveStamp(block, count, serial, places)) {
                putBack(block, Slab.closed(serial), count, places, rawBytes, w0, w1, w2, w3, w4, w5,
                        w6, w7);
            } else if (!closed || hasAny(block, count, serial, places)) {
                end(block, serial, count, places, rawBytes,
                        new long[] {w0, w1, w2, w3, w4, w5, w6, w7}, !closed);
            }
            BlockContents.releaseIfEmpty(block);
        }
        if (closed) {
            Bridge.count(Misuse.DOUBLE_CLOSE);
        }
    }

    /**
     * Whether the scope has the value in one of its slots: then it is open, even if another thread
     * is about to close it.
     */
    private static boolean hasAny(long block, int count, int serial, long places) {
        for (int i = 0; i < count; i++) {
            int place = (int) (places >>> i * Byte.SIZE & 0xff);
            if (place != AttributeEntry.NOWHERE
                    && Slab.stamp(Slab.word(block, place) & ~Slab.COVERS_ENDED) == serial) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ends a scope slot by slot: of each it has the value, or a later scope has, or nobody. {@code
     * own}: it is known to be open until now.
     */
    static void end(long block, int serial, int count, long places, long rawBytes, long[] saved,
            boolean own) {
        boolean outOfOrder = false;
        long freed = 0;
        long onTop = 0;
        long[] w = saved.clone();
        for (int i = 0; i < count; i++) {
            int place = (int) (places >>> i * Byte.SIZE & 0xff);
            if (place != AttributeEntry.NOWHERE) {
                long now = Slab.word(block, place);
                outOfOrder |= CoveredScopes.isCovered(now, serial);
                onTop |= Slab.stamp(now) == serial ? RawArea.bytesOf((int) now) : 0;
                freed |= own && Slab.stamp(now) == 0
                        ? CoveredScopes.bytesOfPut(saved[i]) & ~RawArea.bytesOf((int) now) : 0;
                w[i] = CoveredScopes.after(block, place, serial, saved[i], own);
            }
        }
        // The bytes of a covered value stay until the later scope closes: it may show them, too.
        // Those of a scope that may have ended before may be another's by now.
        long later = own && outOfOrder ? rawBytes & ~onTop : 0;
        freed |= (own ? rawBytes & ~later : rawBytes & onTop)
                | CoveredScopes.freed(block, serial, later);
        if (outOfOrder) {
            Bridge.count(Misuse.CLOSE_OUT_OF_ORDER);
        }
        putBack(block, Slab.fresh(block), count, places, freed, w[0], w[1], w[2], w[3], w[4], w[5],
                w[6], w[7]);
    }

    private static void putBack(long block, int number, int count, long places, long freed,
            long w0, long w1, long w2, long w3, long w4, long w5, long w6, long w7) {
        boolean filtering = EventFilter.inUse();
        Slab.begin(block, number);
        Slab.putBack(block, count, places, w0, w1, w2, w3, w4, w5, w6, w7);
        if (Slab.rawUsed(block) != 0) {
            Slab.putRawUsed(block, Slab.rawUsed(block) & ~freed);
            if (!Slab.hasScope(block)) {
                RawArea.compact(block);
            }
        }
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }
}
