package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.intern.AttributeEntry;

/** Changes one attribute of the current context without a scope. Only while the agent is there. */
public final class InPlaceUpdate {
    private InPlaceUpdate() {
    }

    /** Writes an entry, and {@code value} where the entry leaves the id open. */
    public static void put(long entry, String value) {
        // Before the block is looked up, as in a scope.
        boolean filtering = EventFilter.inUse();
        long key = CurrentThread.key();
        // Removing needs no block where there is none.
        long block = (int) entry == 0 && Slab.find(key) == Slab.NONE ? Slab.NONE
                : CurrentBlock.forWriting(key);
        if (block != Slab.NONE) {
            put(block, entry, value, filtering);
        }
    }

    private static void put(long block, long entry, String value, boolean filtering) {
        int id = (int) entry;
        int top = Slab.rawTop(block);
        boolean bottom = Slab.top(block) == 0;
        if (id == AttributeEntry.TO_RAW) {
            if (bottom && !RawArea.fits(value, top)) {
                top = closeGaps(block, entry);
            }
            id = RawArea.write(block, top, value);
        }
        boolean leavesGap = bottom && RawArea.isRaw(Slab.idAt(block, entry));
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putEntry(block, AttributeEntry.withId(entry, id));
        Slab.putRawTop(block, leavesGap ? RawArea.compact(block) : top + RawArea.length(id));
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
        if (id == 0) {
            BlockContents.releaseIfEmpty(block);
        }
    }

    /**
     * Takes the attribute's value out and moves the other raw values together: at depth 0 no scope
     * remembers where they lay. Returns the new raw top.
     */
    private static int closeGaps(long block, long entry) {
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putEntry(block, AttributeEntry.withId(entry, 0));
        int top = RawArea.compact(block);
        Slab.putRawTop(block, top);
        Slab.end(block, number);
        return top;
    }
}
