package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;

/** The opening of a scope whose values have ids that are at hand. */
public final class ScopeOpen {
    /** All slots, a bit each. */
    public static final int ALL = (1 << BlockLayout.SLOTS) - 1;

    private ScopeOpen() {}

    /** Publishes one value. */
    public static void one(long block, int serial, int place, int id) {
        try {
            // Before the word: a serial that is used up does no harm, one given twice would.
            Slab.putNext(block, serial);
            Slab.publishWord(block, Slab.opened(serial), place, Slab.word(id, serial));
        } catch (StackOverflowError interpreted) {
            // A word that was written is the scope's; whoever gets it closes it.
        }
    }

    /**
     * Publishes the first {@code count} of eight entries, of which no two have the same slot.
     * {@code raw} is the id of the one whose value is written raw, if there is one.
     */
    @SuppressWarnings("fallthrough")
    public static void several(
            long block,
            int serial,
            int count,
            long e0,
            long e1,
            long e2,
            long e3,
            long e4,
            long e5,
            long e6,
            long e7,
            int raw) {
        int number = Slab.opened(serial);
        try {
            Slab.putNext(block, serial);
            Slab.begin(block, number);
            // One branch, as each costs code for the way that was never taken (rule 5).
            switch (count) {
                case 8:
                    put(block, e7, raw, serial);
                // fall through
                case 7:
                    put(block, e6, raw, serial);
                // fall through
                case 6:
                    put(block, e5, raw, serial);
                // fall through
                case 5:
                    put(block, e4, raw, serial);
                // fall through
                case 4:
                    put(block, e3, raw, serial);
                // fall through
                case 3:
                    put(block, e2, raw, serial);
                // fall through
                case 2:
                    put(block, e1, raw, serial);
                // fall through
                default:
                    put(block, e0, raw, serial);
            }
            Slab.end(block, number);
        } catch (StackOverflowError interpreted) {
            // The words that were written are the scope's; whoever gets it closes it.
        }
    }

    private static void put(long block, long entry, int raw, int serial) {
        int id = (int) entry;
        // Without a branch: the raw one if it is negative.
        Slab.putWord(block, entry >>> Integer.SIZE, Slab.word(id ^ (id ^ raw) & id >> 31, serial));
    }

    /** The slots of which there is an id, a bit each. */
    public static int withIds(long ids0, long ids1, long ids2, long ids3) {
        return (ids0 | ids1 | ids2 | ids3) == 0
                ? 0
                : withId(ids0, ids0 >>> Integer.SIZE)
                        | withId(ids1, ids1 >>> Integer.SIZE) << 2
                        | withId(ids2, ids2 >>> Integer.SIZE) << 4
                        | withId(ids3, ids3 >>> Integer.SIZE) << 6;
    }

    private static int withId(long first, long second) {
        return ((int) first != 0 ? 1 : 0) | ((int) second != 0 ? 2 : 0);
    }

    /** Publishes the ids of a snapshot in all slots. */
    public static void snapshot(
            long block, int serial, boolean filtering, long ids0, long ids1, long ids2, long ids3) {
        int number = Slab.opened(serial);
        try {
            Slab.putNext(block, serial);
            Slab.begin(block, number);
            putPair(block, serial, 0, ids0);
            putPair(block, serial, 2, ids1);
            putPair(block, serial, 4, ids2);
            putPair(block, serial, 6, ids3);
            if (filtering) {
                Slab.putEventMask(block, EventFilter.mask(block));
            }
            Slab.end(block, number);
        } catch (StackOverflowError interpreted) {
            // As above.
        }
    }

    private static void putPair(long block, int serial, int slot, long ids) {
        Slab.putWordIn(block, slot, Slab.word((int) ids, serial));
        Slab.putWordIn(block, slot + 1, Slab.word((int) (ids >>> Integer.SIZE), serial));
    }

    /** Publishes the ids of a snapshot in these slots. */
    public static void snapshot(
            long block,
            int serial,
            boolean filtering,
            int named,
            long ids0,
            long ids1,
            long ids2,
            long ids3) {
        int number = Slab.opened(serial);
        try {
            Slab.putNext(block, serial);
            Slab.begin(block, number);
            putIds(block, serial, named, ids0, ids1, ids2, ids3);
            if (filtering) {
                Slab.putEventMask(block, EventFilter.mask(block));
            }
            Slab.end(block, number);
        } catch (StackOverflowError interpreted) {
            // As above.
        }
    }

    /** Writes ids of a snapshot in these slots. */
    static void putIds(
            long block, int serial, int named, long ids0, long ids1, long ids2, long ids3) {
        putPair(block, serial, 0, named, ids0);
        putPair(block, serial, 2, named, ids1);
        putPair(block, serial, 4, named, ids2);
        putPair(block, serial, 6, named, ids3);
    }

    private static void putPair(long block, int serial, int slot, int named, long ids) {
        if ((named & 1 << slot) != 0) {
            Slab.putWordIn(block, slot, Slab.word((int) ids, serial));
        }
        if ((named & 2 << slot) != 0) {
            Slab.putWordIn(block, slot + 1, Slab.word((int) (ids >>> Integer.SIZE), serial));
        }
    }
}
