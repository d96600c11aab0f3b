package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.agent.SlotPlace;

/**
 * The opening of a scope that has raw values or is rare otherwise. Kept calls (rule 5 of {@link
 * CompilerRules}): inlined, they would keep other scopes from being inlined.
 */
public final class RawScope {
    private RawScope() {}

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

    /** Makes room for a raw value and writes it. Returns its id. */
    public static int write(long block, String value) {
        return write(CompilerRules.KEEP_CALL, block, value);
    }

    private static int write(int callsLeft, long block, String value) {
        if (callsLeft > 0) {
            return write(callsLeft - 1, block, value);
        }
        makeRoom(block);
        return writeOne(block, value);
    }

    /**
     * Writes where no byte is used, and has the bytes of the value count as used: else the next one
     * would overwrite them.
     */
    private static int writeOne(long block, String value) {
        long used = Slab.rawUsed(block);
        int id = RawArea.write(block, used, value);
        Slab.putRawUsed(block, used | RawArea.bytesOf(id));
        return id;
    }

    /**
     * Publishes the first {@code size} of eight entries: several raw values, slots that come twice,
     * or under a filter. Returns the bytes of the raw area that their values took.
     */
    public static long open(
            long block,
            int serial,
            boolean filtering,
            int size,
            long e0,
            long e1,
            long e2,
            long e3,
            long e4,
            long e5,
            long e6,
            long e7,
            String first,
            PendingValue more) {
        return open(
                CompilerRules.KEEP_CALL,
                block,
                serial,
                filtering,
                size,
                e0,
                e1,
                e2,
                e3,
                e4,
                e5,
                e6,
                e7,
                first,
                more);
    }

    private static long open(
            int callsLeft,
            long block,
            int serial,
            boolean filtering,
            int size,
            long e0,
            long e1,
            long e2,
            long e3,
            long e4,
            long e5,
            long e6,
            long e7,
            String first,
            PendingValue more) {
        if (callsLeft > 0) {
            return open(
                    callsLeft - 1,
                    block,
                    serial,
                    filtering,
                    size,
                    e0,
                    e1,
                    e2,
                    e3,
                    e4,
                    e5,
                    e6,
                    e7,
                    first,
                    more);
        }
        if (filtering) {
            EventFilter.prepare();
        }
        long used = Slab.rawUsed(block);
        // All bytes first: from the first entry on nothing may fail.
        long k0 = known(block, 0, e0, first, more);
        long k1 = known(block, 1, e1, first, more);
        long k2 = known(block, 2, e2, first, more);
        long k3 = known(block, 3, e3, first, more);
        long k4 = known(block, 4, e4, first, more);
        long k5 = known(block, 5, e5, first, more);
        long k6 = known(block, 6, e6, first, more);
        long k7 = known(block, 7, e7, first, more);
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        // In their order: the last counts.
        put(block, serial, size > 0, k0);
        put(block, serial, size > 1, k1);
        put(block, serial, size > 2, k2);
        put(block, serial, size > 3, k3);
        put(block, serial, size > 4, k4);
        put(block, serial, size > 5, k5);
        put(block, serial, size > 6, k6);
        put(block, serial, size > 7, k7);
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
        return Slab.rawUsed(block) & ~used;
    }

    /** The entry with the id of its value, which is written if it is raw. */
    private static long known(long block, int i, long entry, String first, PendingValue more) {
        return (int) entry >= 0
                ? entry
                : SlotPlace.entry(
                        (int) (entry >>> Integer.SIZE),
                        writeOne(block, PendingValue.find(more, i, first)));
    }

    private static void put(long block, int serial, boolean there, long entry) {
        if (there) {
            Slab.putWord(block, entry >>> Integer.SIZE, Slab.word((int) entry, serial));
        }
    }

    /**
     * Publishes the ids of a snapshot, whose raw values lie in {@code area}, in these slots.
     */
    public static void openSnapshot(
            long block,
            int serial,
            boolean filtering,
            int named,
            byte[] area,
            long ids0,
            long ids1,
            long ids2,
            long ids3) {
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
