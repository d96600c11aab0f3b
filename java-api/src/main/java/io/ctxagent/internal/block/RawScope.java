package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.intern.RecentValues;

/**
 * The opening of a scope that has raw values, or values that are not at hand. Kept calls (rule 5 of
 * {@link CompilerRules}): inlined, they would keep other scopes from being inlined.
 */
public final class RawScope {
    private RawScope() {
    }

    /** Closes the gaps in the raw area if no scope remembers where values lie. */
    public static void makeRoom(long block) {
        if (Slab.rawUsed(block) != 0) {
            makeRoom(CompilerRules.KEEP_CALL, block);
        }
    }

    private static void makeRoom(int callsLeft, long block) {
        if (callsLeft > 0) {
            makeRoom(callsLeft - 1, block);
        } else if (!Slab.hasScope(block)) {
            int number = Slab.fresh(block);
            Slab.begin(block, number);
            RawArea.compact(block);
            Slab.end(block, number);
        }
    }

    /**
     * Publishes the first {@code size} of eight entries. Returns the bytes of the raw area that their
     * values took.
     */
    public static long open(long block, int serial, boolean filtering, int size, long e0, long e1,
            long e2, long e3, long e4, long e5, long e6, long e7, String pending,
            PendingValue more) {
        return open(CompilerRules.KEEP_CALL, block, serial, filtering, size, e0, e1, e2, e3, e4,
                e5, e6, e7, pending, more);
    }

    private static long open(int callsLeft, long block, int serial, boolean filtering, int size,
            long e0, long e1, long e2, long e3, long e4, long e5, long e6, long e7, String pending,
            PendingValue more) {
        if (callsLeft > 0) {
            return open(callsLeft - 1, block, serial, filtering, size, e0, e1, e2, e3, e4, e5, e6,
                    e7, pending, more);
        }
        long used = Slab.rawUsed(block);
        if (size == 1) {
            openOne(block, serial, filtering, place(e0), pending);
        } else {
            openSeveral(block, serial, filtering, size, e0, e1, e2, e3, e4, e5, e6, e7, pending,
                    more);
        }
        return Slab.rawUsed(block) & ~used;
    }

    private static void openOne(long block, int serial, boolean filtering, int place,
            String value) {
        int id = write(block, value);
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        Slab.putWord(block, place, Slab.word(id, serial));
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }

    private static void openSeveral(long block, int serial, boolean filtering, int size, long e0,
            long e1, long e2, long e3, long e4, long e5, long e6, long e7, String pending,
            PendingValue more) {
        long[] entries = {e0, e1, e2, e3, e4, e5, e6, e7};
        for (int i = 0; i < size; i++) {
            if ((int) entries[i] < 0) {
                int id = isLast(entries, i, size)
                        ? write(block, PendingValue.find(more, i, pending)) : 0;
                entries[i] = RecentValues.entry(place(entries[i]), id);
            }
        }
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        for (int i = 0; i < size; i++) {
            Slab.putEntry(block, entries[i], serial);
        }
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }

    /** Whether no later entry has the same slot. */
    private static boolean isLast(long[] entries, int i, int size) {
        for (int later = i + 1; later < size; later++) {
            if (place(entries[later]) == place(entries[i])) {
                return false;
            }
        }
        return true;
    }

    private static int place(long entry) {
        return (int) (entry >>> Integer.SIZE);
    }

    /**
     * Writes a raw value where no byte is used, and has its bytes count as used: else the next one
     * would overwrite them. Returns its id.
     */
    private static int write(long block, String value) {
        long used = Slab.rawUsed(block);
        int id = RawArea.write(block, used, value);
        Slab.putRawUsed(block, used | RawArea.bytesOf(id));
        return id;
    }

    /**
     * Publishes the ids of a snapshot, whose raw values lie in {@code area}, in these slots.
     */
    public static void openSnapshot(long block, int serial, boolean filtering, int named,
            byte[] area, long ids0, long ids1, long ids2, long ids3) {
        long used = Slab.rawUsed(block);
        long[] ids = {ids0, ids1, ids2, ids3};
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            int shift = (slot & 1) * Integer.SIZE;
            int id = (int) (ids[slot >> 1] >>> shift);
            // Of a value that the slot has now the bytes stay: this scope covers it.
            boolean there = Slab.id(block, slot) == id && RawArea.isThere(block, area, id);
            if (RawArea.isRaw(id) && !there) {
                int moved = RawArea.write(block, used, area, id);
                if (moved == BlockLayout.OVERFLOW_ID) {
                    Bridge.count(Misuse.RAW_AREA_FULL);
                }
                used |= RawArea.bytesOf(moved);
                ids[slot >> 1] ^= Integer.toUnsignedLong(id ^ moved) << shift;
            }
        }
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        Slab.putRawUsed(block, used);
        ScopeOpen.putIds(block, serial, named, ids[0], ids[1], ids[2], ids[3]);
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }
}
