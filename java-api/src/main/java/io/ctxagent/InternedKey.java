package io.ctxagent;

import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.intern.AttributeEntry;
import io.ctxagent.internal.intern.InternedValue;
import io.ctxagent.internal.intern.InterningKey;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.intern.ValueIds;

/** A key whose values have ids in the agent's dictionary, until they turn out to be too many. */
final class InternedKey extends RecordingContextKey implements InterningKey {
    private final ValueIds values = new ValueIds();
    /** All values are written raw. Racy: a value more or less in the dictionary does not matter. */
    private boolean raw;
    /** The value that was interned last, hit by identity before the table. */
    private InternedValue last = InternedValue.none();
    /** This key's part of {@link RecentValues}. */
    private int part = RecentValues.EMPTY_PART;

    InternedKey(String name) {
        super(name);
    }

    @Override
    long entry(String value) {
        InternedValue v = last;
        if (v.value != value) {
            v = value == null ? RecentValues.NONE : RecentValues.candidate(part, value);
            if (v.value != value) {
                return entryOfOther(CompilerRules.KEEP_CALL, value);
            }
        }
        return v.entry;
    }

    private long entryOfOther(int callsLeft, String value) {
        if (callsLeft > 0) {
            return entryOfOther(callsLeft - 1, value);
        }
        int slot = slot();
        if (slot < 0) {
            return AttributeEntry.NONE;
        }
        int id = !raw ? idOf(value) : value == null ? 0 : AttributeEntry.TO_RAW;
        return AttributeEntry.of(slot, id);
    }

    private int idOf(String value) {
        try {
            return values.idOf(this, value);
        } catch (OutOfMemoryError full) {
            // Written raw this time.
            return AttributeEntry.TO_RAW;
        }
    }

    @Override
    boolean isPlain(long entry) {
        return (int) entry >= 0;
    }

    @Override
    String rawValue(long entry, String value) {
        return (int) entry == AttributeEntry.TO_RAW ? value : null;
    }

    @Override
    public void demote() {
        if (!raw) {
            values.forget();
            raw = true;
            keepNone();
        }
    }

    @Override
    public int boundSlot() {
        return slotIfAny();
    }

    @Override
    public void keep(InternedValue value, boolean newest) {
        if (newest) {
            last = value;
        }
        part = RecentValues.keep(slotIfAny(), value);
    }

    @Override
    public void keepNone() {
        last = InternedValue.none();
        part = RecentValues.EMPTY_PART;
    }

    @Override
    String valueOf(int id) {
        String value = values.valueOf(id);
        return value != null ? value : "#" + id;
    }
}
