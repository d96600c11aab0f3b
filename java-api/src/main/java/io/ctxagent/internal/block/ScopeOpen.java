package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CompilerRules;

/** The opening of a scope whose values have ids that are at hand. */
public final class ScopeOpen {
    /** All slots, a bit each. */
    public static final int ALL = (1 << BlockLayout.SLOTS) - 1;

    private ScopeOpen() {
    }

    /** Publishes one value. */
    public static void one(long block, int serial, boolean filtering, int place, int id) {
        int number = Slab.opened(serial);
        try {
            // Before the word: a serial that is used up does no harm, one given twice would.
            Slab.putNext(block, serial);
            if (filtering) {
                Slab.begin(block, number);
                Slab.putWord(block, place, Slab.word(id, serial));
                Slab.putEventMask(block, EventFilter.mask(block));
                Slab.end(block, number);
            } else {
                Slab.publishWord(block, number, place, Slab.word(id, serial));
            }
        } catch (StackOverflowError interpreted) {
            // A word that was written is the scope's; whoever gets it closes it.
        }
    }

    /** Publishes the first {@code count} of eight entries, of which there are at least two. */
    public static void several(long block, int serial, boolean filtering, int count, long e0,
            long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        int number = Slab.opened(serial);
        try {
            Slab.putNext(block, serial);
            Slab.begin(block, number);
            Slab.putEntry(block, e0, serial);
            Slab.putEntry(block, e1, serial);
            if (count > 2) {
                Slab.putEntry(block, e2, serial);
            }
            if (count > 3) {
                Slab.putEntry(block, e3, serial);
            }
            if (count > 4) {
                more(CompilerRules.KEEP_CALL, block, serial, count, e4, e5, e6, e7);
            }
            if (filtering) {
                Slab.putEventMask(block, EventFilter.mask(block));
            }
            Slab.end(block, number);
        } catch (StackOverflowError interpreted) {
            // The words that were written are the scope's; whoever gets it closes it.
        }
    }

    /** Writes the entries from the fifth on, which are rare: so it stays a call (rule 5). */
    private static void more(int callsLeft, long block, int serial, int count, long e4, long e5,
            long e6, long e7) {
        if (callsLeft > 0) {
            more(callsLeft - 1, block, serial, count, e4, e5, e6, e7);
            return;
        }
        Slab.putEntry(block, e4, serial);
        if (count > 5) {
            Slab.putEntry(block, e5, serial);
        }
        if (count > 6) {
            Slab.putEntry(block, e6, serial);
        }
        if (count > 7) {
            Slab.putEntry(block, e7, serial);
        }
    }

    /** The place of one of eight entries, each of which is a byte. */
    static int place(long places, int i) {
        return (int) (places >>> i * Byte.SIZE) & 0xff;
    }

    /** The slots of which there is an id, a bit each. */
    public static int withIds(long ids0, long ids1, long ids2, long ids3) {
        return (ids0 | ids1 | ids2 | ids3) == 0 ? 0 : withId(ids0, ids0 >>> Integer.SIZE)
                | withId(ids1, ids1 >>> Integer.SIZE) << 2
                | withId(ids2, ids2 >>> Integer.SIZE) << 4
                | withId(ids3, ids3 >>> Integer.SIZE) << 6;
    }

    private static int withId(long first, long second) {
        return ((int) first != 0 ? 1 : 0) | ((int) second != 0 ? 2 : 0);
    }

    /** Publishes the ids of a snapshot in all slots. */
    public static void snapshot(long block, int serial, boolean filtering, long ids0, long ids1,
            long ids2, long ids3) {
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
    public static void snapshot(long block, int serial, boolean filtering, int named, long ids0,
            long ids1, long ids2, long ids3) {
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
    static void putIds(long block, int serial, int named, long ids0, long ids1, long ids2,
            long ids3) {
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
