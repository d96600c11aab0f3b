package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * What a builder has beyond eight entries and one raw value, the last of each slot: added later
 * than all that the builder holds itself. Rare: eight attributes need none of it, and raw values
 * share one small area.
 */
public final class ExtraEntries {
    /** By slot; 0 = none. */
    private final long[] entries = new long[BlockLayout.SLOTS];
    private final String[] raw = new String[BlockLayout.SLOTS];
    private final int[] rawIds = new int[BlockLayout.SLOTS];

    private ExtraEntries() {
    }

    /** {@code before}, or a new one if that is {@code null}, with one more entry. */
    public static ExtraEntries with(ExtraEntries before, long entry) {
        ExtraEntries all = before == null ? new ExtraEntries() : before;
        all.entries[AttributeEntry.slot(entry)] = entry;
        return all;
    }

    /** {@code before}, or a new one, with the raw value that an entry leaves open. */
    public static ExtraEntries withRaw(ExtraEntries before, long entry, String value) {
        ExtraEntries all = before == null ? new ExtraEntries() : before;
        all.raw[AttributeEntry.slot(entry)] = value;
        return all;
    }

    /** Writes the bytes of raw values above {@code top}. Returns the new top. */
    public int writeRaw(long block, int top) {
        int at = top;
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            if (raw[slot] != null) {
                rawIds[slot] = RawArea.write(block, at, raw[slot]);
                at += RawArea.length(rawIds[slot]);
            }
        }
        return at;
    }

    /** In the sequence: writes the value ids. */
    public void write(long block) {
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            if (entries[slot] != 0) {
                Slab.putEntry(block, entries[slot]);
            }
            if (raw[slot] != null) {
                RawArea.resolve(block, AttributeEntry.of(slot, AttributeEntry.TO_RAW),
                        rawIds[slot]);
            }
        }
    }
}
