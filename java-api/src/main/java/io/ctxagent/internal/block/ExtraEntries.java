package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * What a builder has beyond one value for each attribute and one raw value, the last of each slot:
 * added later than all that the builder holds itself. Rare: raw values share one small area.
 */
public final class ExtraEntries {
    /** By slot; 0 = none. */
    private final long[] entries = new long[BlockLayout.SLOTS];
    private final String[] raw = new String[BlockLayout.SLOTS];
    private final int[] rawIds = new int[BlockLayout.SLOTS];

    private ExtraEntries() {
    }

    /**
     * {@code before}, or a new one if that is {@code null}, with one more entry, and the raw value
     * that it leaves open, or {@code null}.
     */
    public static ExtraEntries with(ExtraEntries before, long entry, String rawValue) {
        ExtraEntries all = before == null ? new ExtraEntries() : before;
        int slot = AttributeEntry.slot(entry);
        all.entries[slot] = entry;
        all.raw[slot] = rawValue;
        return all;
    }

    /** Writes the bytes of raw values where none is {@code used}. Returns what is used then. */
    long writeRaw(long block, long used) {
        long all = used;
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            if (raw[slot] != null) {
                rawIds[slot] = RawArea.write(block, all, raw[slot]);
                all |= RawArea.bytesOf(rawIds[slot]);
            }
        }
        return all;
    }

    /** In the sequence: writes the value ids, for the scope with this serial. */
    void write(long block, int serial) {
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            long entry = entries[slot];
            if (entry != 0) {
                Slab.putWord(block, AttributeEntry.place(entry), AttributeEntry.word(
                        raw[slot] == null ? entry : AttributeEntry.withId(entry, rawIds[slot]),
                        serial));
            }
        }
    }
}
