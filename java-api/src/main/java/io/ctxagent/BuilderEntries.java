package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.ExtraEntries;
import io.ctxagent.internal.block.Slab;

/**
 * The attributes that a builder collects, each as an {@link
 * io.ctxagent.internal.intern.AttributeEntry}.
 *
 * <p>In numbered fields instead of an array, so that the compiler can leave the builder out. For
 * the same reason no method gets the builder: what is rare, and so may not be inlined, is a static
 * method that gets values and returns one (rule 3 of {@link
 * io.ctxagent.internal.agent.CompilerRules}).
 *
 * <p>{@link #size} is read before anything else and stored after all else (rule 4).
 */
abstract class BuilderEntries {
    /** Size of a builder that does nothing: there is no agent. */
    static final int OFF = 2 * BlockLayout.SLOTS;

    private int size;
    private long entry0;
    private long entry1;
    private long entry2;
    private long entry3;
    private long entry4;
    private long entry5;
    private long entry6;
    private long entry7;
    /**
     * The first value to be written raw, or {@code null}: its id is only known then. Its entry is
     * one of those above, too.
     */
    String raw;
    long rawEntry;
    /** What does not fit in here, or {@code null}. */
    ExtraEntries extra;

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

    /**
     * Adds an entry at its place, and the value to be written raw if the entry leaves the id open,
     * else {@code null}.
     */
    final void add(int at, long entry, String rawValue) {
        put(at, entry);
        if (rawValue != null) {
            if (raw == null) {
                raw = rawValue;
                rawEntry = entry;
            } else {
                extra = ExtraEntries.withRaw(extra, entry, rawValue);
            }
        }
        // Last, and always: see the class.
        size = Math.min(at + 1, BlockLayout.SLOTS);
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
            case 7:
                entry7 = entry;
                break;
            default:
                // A slot occurs twice.
                extra = ExtraEntries.with(extra, entry);
        }
    }

    /**
     * Writes all value ids but those of {@link #extra}. In the sequence. Where a raw value is
     * meant, the id only marks that.
     */
    final void write(long block) {
        Slab.putEntries(block, size, entry0, entry1, entry2, entry3, entry4, entry5, entry6,
                entry7);
    }
}
