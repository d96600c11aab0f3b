package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;

/** The end of a scope that does not have the values in all of its slots, and the steps of any. */
final class ScopeEnd {
    private ScopeEnd() {}

    /** Has the VM initialise this class: here, not where the stack is short. */
    static void initialise() {}

    /**
     * Ends a scope slot by slot: of each it has the value, or a later scope has, or nobody. {@code
     * own}: it is known to be open until now.
     */
    static void end(long block, int serial, int named, long rawBytes, long[] saved, boolean own) {
        boolean outOfOrder = false;
        long freed = 0;
        long onTop = 0;
        long[] w = saved.clone();
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            long now = Slab.wordIn(block, slot);
            outOfOrder |= CoveredScopes.isCovered(now, serial);
            onTop |= Slab.stamp(now) == serial ? RawArea.bytesOf((int) now) : 0;
            freed |= own && Slab.stamp(now) == 0
                    ? CoveredScopes.bytesOfPut(saved[slot]) & ~RawArea.bytesOf((int) now)
                    : 0;
            w[slot] = CoveredScopes.after(block, slot, serial, saved[slot], own);
        }
        // The bytes of a covered value stay until the later scope closes: it may show them, too.
        // Those of a scope that may have ended before may be another's by now.
        long later = own && outOfOrder ? rawBytes & ~onTop : 0;
        freed |= (own ? rawBytes & ~later : rawBytes & onTop)
                | CoveredScopes.freed(block, serial, later);
        if (outOfOrder) {
            Bridge.count(Misuse.CLOSE_OUT_OF_ORDER);
        }
        putBack(block, Slab.fresh(block), named, freed, w);
    }

    static void putBack(long block, int number, int named, long freed, long[] words) {
        boolean filtering = EventFilter.prepare();
        Slab.begin(block, number);
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            Slab.putWordIn(block, slot, words[slot]);
        }
        finish(block, number, freed, filtering);
    }

    /** Frees bytes of the raw area and ends the sequence. */
    static void finish(long block, int number, long freed, boolean filtering) {
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
