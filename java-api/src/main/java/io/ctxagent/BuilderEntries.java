package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.PendingValue;

/**
 * The attributes that a builder collects: where their slots lie in a block, and the ids of their
 * values. The scope writes those that are raw; so the code of a builder is short, and a method that
 * returns one can be inlined (rule 5 of {@link io.ctxagent.internal.agent.CompilerRules}).
 *
 * <p>In numbered fields instead of an array, so that the compiler can leave the builder out. For
 * the same reason no method that may not be inlined gets the builder (rule 3).
 *
 * <p>{@link #size} is read before anything else and stored after all else (rule 4).
 */
abstract class BuilderEntries {
    /** Size of a builder that does nothing: there is no agent. */
    static final int OFF = 2 * BlockLayout.SLOTS;

    private int size;
    /**
     * As {@link RecordingContextKey#entry} gives them. A slot may be there more than once: the last
     * counts.
     */
    long entry0;

    long entry1;
    long entry2;
    long entry3;
    long entry4;
    long entry5;
    long entry6;
    long entry7;
    /** The first value to be written raw, or {@code null}. */
    String pending;
    /** The others of these, or {@code null}. */
    PendingValue morePending;

    BuilderEntries(boolean on) {
        // One question here instead of one for each attribute, as the compiler knows the size.
        size = on ? 0 : OFF;
    }

    final boolean isOn() {
        return size != OFF;
    }

    /**
     * How many were added or {@link #OFF}, for {@link #add}; to be asked before anything else is
     * done.
     */
    final int size() {
        return size;
    }

    /** Whether there is something to install. */
    final boolean hasEntries() {
        // From 1 to SLOTS, in one branch.
        return (size + BlockLayout.SLOTS - 1 & ~(BlockLayout.SLOTS - 1)) == BlockLayout.SLOTS;
    }

    /** Adds an entry, and the value if that is to be written raw, else {@code null}. */
    final void add(int at, long entry, String raw) {
        int i = at < BlockLayout.SLOTS ? at : shadowed(places(), at(entry, 4));
        put(i, entry);
        if (raw != null) {
            if (pending == null) {
                pending = raw;
            } else {
                morePending = PendingValue.with(morePending, i, raw);
            }
        }
        // Last, and always: see the class.
        size = Math.min(at + 1, BlockLayout.SLOTS);
    }

    /** Where the slots lie, a byte each. */
    private long places() {
        return at(entry0, 4)
                | at(entry1, 4) << 8
                | at(entry2, 4) << 16
                | at(entry3, 4) << 24
                | at(entry4, 4) << 32
                | at(entry5, 4) << 40
                | at(entry6, 4) << 48
                | at(entry7, 4) << 56;
    }

    /** All entries by "or": negative as an int if a value is to be written raw. */
    final long all() {
        return entry0 | entry1 | entry2 | entry3 | entry4 | entry5 | entry6 | entry7;
    }

    /**
     * Of eight places, the one that does not count when {@code place} comes: the last that is the
     * same, or else one that comes again later.
     */
    private static int shadowed(long places, long place) {
        for (int i = BlockLayout.SLOTS - 1; i >= 0; i--) {
            if (at(places, i) == place) {
                return i;
            }
        }
        for (int i = 0; i < BlockLayout.SLOTS; i++) {
            for (int later = i + 1; later < BlockLayout.SLOTS; later++) {
                if (at(places, i) == at(places, later)) {
                    return i;
                }
            }
        }
        throw new IllegalStateException("more places than slots");
    }

    /** A byte of a number. */
    private static long at(long bytes, int i) {
        return bytes >>> i * Byte.SIZE & 0xff;
    }

    private void put(int at, long entry) {
        switch (at) {
            case 0:
                entry0 = entry;
                break;
            case 1:
                entry1 = entry;
                break;
            case 2:
                entry2 = entry;
                break;
            case 3:
                entry3 = entry;
                break;
            case 4:
                entry4 = entry;
                break;
            case 5:
                entry5 = entry;
                break;
            case 6:
                entry6 = entry;
                break;
            default:
                entry7 = entry;
        }
    }
}
