package io.ctxagent;

import io.ctxagent.internal.intern.AttributeEntry;

/** A key whose values are written raw from the beginning. */
final class RawKey extends RecordingContextKey {
    RawKey(String name) {
        super(name);
    }

    @Override
    long entry(String value) {
        int slot = slot();
        return slot < 0 ? AttributeEntry.NONE
                : AttributeEntry.of(slot, value == null ? 0 : AttributeEntry.TO_RAW);
    }

    @Override
    boolean isPlain(long entry) {
        return (int) entry >= 0;
    }

    @Override
    String rawValue(long entry, String value) {
        return value;
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
