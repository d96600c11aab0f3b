package io.ctxagent;

import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.intern.ValueIds;

/** A key whose values are written raw from the beginning. */
final class RawKey extends RecordingContextKey implements BoundKey {
    RawKey(String name) {
        super(name);
    }

    @Override
    public int idOf(String value) {
        return value == null ? 0 : ValueIds.TO_RAW;
    }

    @Override
    long entry(int place, String value) {
        return RecentValues.entry(place, idOf(value));
    }

    @Override
    boolean isPlain(long entry) {
        return (int) entry >= 0;
    }

    @Override
    void demote() {
        // It is raw.
    }

    @Override
    String valueOf(int id) {
        return "#" + id;
    }
}
