package io.ctxagent;

import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.intern.ValueIds;

/** A key whose values have ids in the agent's dictionary, until they turn out to be too many. */
final class InternedKey extends RecordingContextKey implements BoundKey {
    private final ValueIds values = new ValueIds();

    InternedKey(String name) {
        super(name);
    }

    @Override
    public int idOf(String value) {
        try {
            return values.idOf(slotIfAny(), value);
        } catch (OutOfMemoryError full) {
            // Written raw this time.
            return ValueIds.TO_RAW;
        }
    }

    @Override
    long entry(int place, String value) {
        long entry = RecentValues.find(place, value);
        return (int) entry >= 0 ? entry : RecentValues.entryOfOther(place, value);
    }

    @Override
    boolean isPlain(long entry) {
        return (int) entry >= 0;
    }

    @Override
    void demote() {
        values.demote(slotIfAny());
    }

    @Override
    String valueOf(int id) {
        String value = values.valueOf(id);
        return value != null ? value : "#" + id;
    }
}
