package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * Changes one attribute of the current context without a scope: from then on the value in the slot
 * belongs to no scope. Only while the agent is there.
 */
public final class InPlaceUpdate {
    private InPlaceUpdate() {
    }

    /** Writes an entry, and {@code value} where the entry leaves the id open. */
    public static void put(long entry, String value) {
        // Before the block is looked up, as in a scope.
        boolean filtering = EventFilter.inUse();
        long key = CurrentThread.key();
        long block = Slab.place(key, 0);
        if (!Slab.isOf(block, key) || Slab.hasForeignClose(block)) {
            // Removing needs no block where there is none.
            block = (int) entry == 0 && Slab.find(key) == Slab.NONE ? Slab.NONE
                    : CurrentBlock.forWriting(key);
            if (block == Slab.NONE) {
                return;
            }
        }
        long word = AttributeEntry.word(entry, 0);
        if (!filtering && (int) word >= 0 && (int) Slab.wordOf(block, entry) >= 0) {
            Slab.publishWord(block, Slab.fresh(block), AttributeEntry.place(entry), word);
        } else {
            put(block, entry, value, filtering);
        }
        if (word == 0) {
            BlockContents.releaseIfEmpty(block);
        }
    }

    /** For raw values, new or old, and under a filter. */
    private static void put(long block, long entry, String value, boolean filtering) {
        int id = (int) entry;
        if (id == AttributeEntry.TO_RAW) {
            if (!RawArea.fits(value, Slab.rawUsed(block))) {
                publish(block, entry, 0, filtering);
                RawScope.makeRoom(block);
            }
            id = RawArea.write(block, Slab.rawUsed(block), value);
        }
        publish(block, entry, id, filtering);
    }

    /** Publishes a value, and frees the bytes of the one before if it was no scope's. */
    private static void publish(long block, long entry, int id, boolean filtering) {
        long before = Slab.wordOf(block, entry);
        long used = Slab.rawUsed(block);
        if (Slab.stamp(before) == 0) {
            used &= ~RawArea.bytesOf((int) before);
        }
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putWord(block, AttributeEntry.place(entry),
                AttributeEntry.word(AttributeEntry.withId(entry, id), 0));
        Slab.putRawUsed(block, used | RawArea.bytesOf(id));
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }
}
