package io.ctxagent;

import io.ctxagent.internal.intern.AttributeEntry;

/**
 * What a builder has beyond eight entries and one raw value, the last of each slot: it came later than all that the builder holds itself.
 * Rare: eight attributes need none of it, and raw values share one small area.
 */
final class ExtraEntries {
    /** By slot; 0 = none. */
    private final long[] entries = new long[Slab.SLOTS];
    private final String[] raw = new String[Slab.SLOTS];
    private final int[] rawIds = new int[Slab.SLOTS];

    private ExtraEntries() {
    }

    /** {@code before}, or a new one if that is {@code null}, with one more entry. */
    static ExtraEntries with(ExtraEntries before, long entry) {
        ExtraEntries all = before == null ? new ExtraEntries() : before;
        all.entries[AttributeEntry.slot(entry)] = entry;
        return all;
    }

    /** {@code before}, or a new one if that is {@code null}, with the value that an entry leaves open. */
    static ExtraEntries withRaw(ExtraEntries before, long entry, String value) {
        ExtraEntries all = before == null ? new ExtraEntries() : before;
        all.raw[AttributeEntry.slot(entry)] = value;
        return all;
    }

    /** Writes the bytes of raw values above {@code top}. Returns the new top. */
    int writeRaw(long block, int top) {
        int at = top;
        for (int slot = 0; slot < Slab.SLOTS; slot++) {
            if (raw[slot] != null) {
                rawIds[slot] = Raw.write(block, at, raw[slot]);
                at += Raw.length(rawIds[slot]);
            }
        }
        return at;
    }

    /** Writes the value ids. In the sequence. */
    void write(long block) {
        for (int slot = 0; slot < Slab.SLOTS; slot++) {
            if (entries[slot] != 0) {
                Slab.putEntry(block, entries[slot]);
            }
            if (raw[slot] != null) {
                Raw.resolve(block, AttributeEntry.of(slot, AttributeEntry.TO_RAW), rawIds[slot]);
            }
        }
    }
}
