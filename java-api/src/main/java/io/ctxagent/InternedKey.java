package io.ctxagent;

import io.ctxagent.internal.agent.Memory;

/** A key whose values have ids in the agent's dictionary, until they turn out to be too many. */
final class InternedKey extends RecordingContextKey {
    /** Recent values of one key. */
    private static final int RECENT = 64;
    /**
     * Direct-mapped, the values used lately, a part for each slot and one that stays empty: hit by identity. For keys whose values come by turns; if they
     * made a call each time, the compiler would keep what all other scopes hold on the stack, because it has one profile for all keys. One array for
     * all keys: being a constant, its length is known and nothing is checked. Racy: entries are immutable. In a class of its own, as keys are made without the
     * agent, too.
     */
    static final class Recent {
        private static final ValueIds.Entry[] VALUES = Prepared.parts().recentValues;
        private static final ValueIds.Entry NONE = Prepared.parts().noValue;

        private Recent() {
        }

        /** Has the VM initialise this class. */
        static void initialise() {
        }
    }

    static final int RECENT_SIZE = 2 * Slab.SLOTS * RECENT;
    private static final int EMPTY_PART = Slab.SLOTS * RECENT;

    private final ValueIds values = new ValueIds();
    /** All values are written raw. Racy: a value more or less in the dictionary does not matter. */
    private boolean raw;
    /** The value that was interned last: hit by identity, without a look at the table. Never {@code null}. */
    private ValueIds.Entry last = KeyTable.get().noValue;
    /** Where this key's part of {@link Recent#VALUES} begins. */
    private int part = EMPTY_PART;

    InternedKey(String name) {
        super(name);
    }

    @Override
    long entry(String value) {
        ValueIds.Entry e = last;
        if (e.value != value) {
            e = value == null ? Recent.NONE : recentValue(value);
            if (e.value != value) {
                return further(Raw.OUT_OF_LINE, value);
            }
        }
        return e.entry;
    }

    private ValueIds.Entry recentValue(String value) {
        int at = part | Memory.knownHash(value) & RECENT - 1;
        return Recent.VALUES[at & Recent.VALUES.length - 1];
    }

    /**
     * Calls itself first, and so is called and not inlined (see {@link Raw#OUT_OF_LINE}): with the look at the table and the map inside, the code of
     * {@code where} would be so large in an application with many values that it is inlined nowhere any more.
     */
    private long further(int callsLeft, String value) {
        if (callsLeft > 0) {
            return further(callsLeft - 1, value);
        }
        int slot = slot();
        if (slot < 0) {
            return NO_ENTRY;
        }
        return Slab.entry(slot, !raw ? idOf(value) : value == null ? 0 : ValueIds.TO_RAW);
    }

    private int idOf(String value) {
        try {
            return values.idOf(this, value);
        } catch (OutOfMemoryError full) {
            // Written as it is, this time.
            return ValueIds.TO_RAW;
        }
    }

    @Override
    boolean isPlain(long entry) {
        return (int) entry >= 0;
    }

    @Override
    String rawValue(long entry, String value) {
        return (int) entry == ValueIds.TO_RAW ? value : null;
    }

    @Override
    void demote() {
        if (!raw) {
            values.forget();
            raw = true;
            keepNone();
        }
    }

    /** Keeps an entry at hand whose value is written as it is; {@code newest}: it was looked for in all tables before. */
    void keep(ValueIds.Entry entry, boolean newest) {
        if (newest) {
            last = entry;
        }
        int mine = slotIfAny() * RECENT;
        Recent.VALUES[mine | entry.value.hashCode() & RECENT - 1] = entry;
        part = mine;
    }

    /** From now on each use of a value is looked up, and so counted. */
    void keepNone() {
        last = KeyTable.get().noValue;
        part = EMPTY_PART;
    }

    @Override
    String valueOf(int id) {
        String value = values.valueOf(id);
        return value != null ? value : "#" + id;
    }
}
