package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * The opening of a scope that has raw values, or more than one value of an attribute. Kept calls
 * (rule 5 of {@link CompilerRules}): inlined, they would keep other scopes from being inlined.
 */
public final class RawScope {
    private RawScope() {
    }

    /** Closes the gaps in the raw area if no scope remembers where values lie. */
    public static void makeRoom(long block) {
        if (Slab.rawUsed(block) != 0 && !Slab.hasScope(block)) {
            int number = Slab.fresh(block);
            Slab.begin(block, number);
            RawArea.compact(block);
            Slab.end(block, number);
        }
    }

    /**
     * Publishes the entries of a builder. {@code raw}: the value to be written for {@code rawEntry},
     * or {@code null}. Returns the bytes of the raw area that the scope takes.
     */
    public static long open(long block, int serial, boolean filtering, String raw, long rawEntry,
            ExtraEntries extra, int count, long e0, long e1, long e2, long e3, long e4, long e5,
            long e6, long e7) {
        long before = Slab.rawUsed(block);
        long used = before;
        long resolved = rawEntry;
        if (raw != null) {
            int id = RawArea.write(block, used, raw);
            used |= RawArea.bytesOf(id);
            resolved = AttributeEntry.withId(rawEntry, id);
        }
        if (extra != null) {
            used = extra.writeRaw(block, used);
        }
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        // First: a value whose bytes do not count as used could be overwritten.
        Slab.putRawUsed(block, used);
        Slab.putEntries(block, count, serial, e0 == rawEntry ? resolved : e0,
                e1 == rawEntry ? resolved : e1, e2 == rawEntry ? resolved : e2,
                e3 == rawEntry ? resolved : e3, e4 == rawEntry ? resolved : e4,
                e5 == rawEntry ? resolved : e5, e6 == rawEntry ? resolved : e6,
                e7 == rawEntry ? resolved : e7);
        if (extra != null) {
            extra.write(block, serial);
        }
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
        return used & ~before;
    }

    /**
     * Publishes the entries of a snapshot whose raw values lie in {@code area}. Returns the bytes of
     * the raw area that the scope takes.
     */
    public static long open(long block, int serial, boolean filtering, byte[] area, long e0,
            long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        long before = Slab.rawUsed(block);
        long used = before;
        long[] e = {e0, e1, e2, e3, e4, e5, e6, e7};
        for (int i = 0; i < BlockLayout.SLOTS; i++) {
            int id = (int) e[i];
            // Of a value that the slot has now the bytes stay: this scope covers it.
            boolean there = (int) Slab.wordOf(block, e[i]) == id
                    && RawArea.isThere(block, area, id);
            if (RawArea.isRaw(id) && !there) {
                int moved = RawArea.write(block, used, area, id);
                if (moved == BlockLayout.OVERFLOW_ID) {
                    Bridge.count(Misuse.RAW_AREA_FULL);
                }
                used |= RawArea.bytesOf(moved);
                e[i] = AttributeEntry.withId(e[i], moved);
            }
        }
        int number = Slab.opened(serial);
        Slab.putNext(block, serial);
        Slab.begin(block, number);
        Slab.putRawUsed(block, used);
        Slab.putEntries(block, e.length, serial, e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]);
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
        return used & ~before;
    }
}
