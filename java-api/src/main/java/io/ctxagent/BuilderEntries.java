package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.ExtraEntries;
import io.ctxagent.internal.intern.AttributeEntry;

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
    /** The slots that have an entry, a bit each. */
    private int named;
    long entry0;
    long entry1;
    long entry2;
    long entry3;
    long entry4;
    long entry5;
    long entry6;
    long entry7;
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

    /** Whether there is something to install. */
    final boolean hasEntries() {
        return size != OFF && size != 0;
    }

    /** Whether more than the entries is to be installed. */
    final boolean isRare() {
        return raw != null || extra != null;
    }

    /**
     * Adds an entry at its place, and the value to be written raw if the entry leaves the id open,
     * else {@code null}. A slot has one entry: a scope saves each slot once.
     */
    final void add(int at, long entry, String rawValue) {
        int bit = 1 << AttributeEntry.place(entry) / Long.BYTES;
        if ((named & bit) != 0) {
            extra = ExtraEntries.with(extra, entry, rawValue);
            // So that the size goes up in any case, see the class.
            put(at, AttributeEntry.ofNothing());
        } else {
            named |= bit;
            put(at, entry);
            if (rawValue != null) {
                if (raw == null) {
                    raw = rawValue;
                    rawEntry = entry;
                } else {
                    extra = ExtraEntries.with(extra, entry, rawValue);
                }
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
                putInstead(entry);
        }
    }

    /** Where eight entries are there and one of them sets nothing, an attribute was given twice. */
    private void putInstead(long entry) {
        long nothing = AttributeEntry.ofNothing();
        if (entry == nothing) {
            return;
        }
        if (entry0 == nothing) {
            entry0 = entry;
        } else if (entry1 == nothing) {
            entry1 = entry;
        } else if (entry2 == nothing) {
            entry2 = entry;
        } else if (entry3 == nothing) {
            entry3 = entry;
        } else if (entry4 == nothing) {
            entry4 = entry;
        } else if (entry5 == nothing) {
            entry5 = entry;
        } else if (entry6 == nothing) {
            entry6 = entry;
        } else {
            entry7 = entry;
        }
    }
}
