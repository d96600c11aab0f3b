package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.BlockLayout;

/**
 * An attribute to be written, as one number: where its value id lies in a block, and the id. Half
 * as many numbers to keep in registers as two. Never 0, as ids do not lie at a block's beginning.
 */
public final class AttributeEntry {
    /** In place of an entry: the key has no slot. */
    public static final long NONE = -1;
    /**
     * In place of an id: the value is to be written raw. No id of the dictionary or the raw area.
     */
    public static final int TO_RAW = 0xff00_0000;

    private static final long ID_MASK = 0xffff_ffffL;

    private AttributeEntry() {
    }

    /** The entry of a slot and a value id. */
    public static long of(int slot, int id) {
        return (long) (BlockLayout.IDS + slot * Integer.BYTES) << 32 | id & ID_MASK;
    }

    /** The entry of the same slot with another id. */
    public static long withId(long entry, int id) {
        return entry & ~ID_MASK | id & ID_MASK;
    }

    /** The slot of an entry. */
    public static int slot(long entry) {
        return ((int) (entry >>> 32) - BlockLayout.IDS) / Integer.BYTES;
    }
}
