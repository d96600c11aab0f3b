package io.ctxagent.internal.observe;

/** Some of the scopes that a thread added, one after the other. Immutable. */
final class ScopeSlice {
    private final ScopeRecords records;
    private final int from;
    private final int to;

    ScopeSlice(ScopeRecords records, int from, int to) {
        this.records = records;
        this.from = from;
        this.to = to;
    }

    int type() {
        return records.type;
    }

    int size() {
        return to - from;
    }

    ScopeSlice first(int count) {
        return new ScopeSlice(records, from, from + count);
    }

    ObservedScope entry(int index) {
        return records.entry(from + index);
    }
}
