package io.ctxagent.internal.observe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Entries for one observer, in any order until somebody looks. By one thread at a time. */
public final class EntryBatch {
    private final List<ObservedEntry> entries = new ArrayList<>();
    private final List<ScopeSlice> scopes = new ArrayList<>();
    private int size;

    EntryBatch() {}

    /** A batch of these. */
    public static EntryBatch of(List<ObservedEntry> entries) {
        EntryBatch batch = new EntryBatch();
        entries.forEach(batch::add);
        return batch;
    }

    /** The number of entries. */
    public int size() {
        return size;
    }

    void add(ObservedEntry entry) {
        entries.add(entry);
        size++;
    }

    void add(ScopeSlice slice) {
        scopes.add(slice);
        size += slice.size();
    }

    /** Keeps those of these types, a bit each. */
    void retain(int types) {
        entries.removeIf(entry -> (types >>> entry.type & 1) == 0);
        scopes.removeIf(slice -> (types >>> slice.type() & 1) == 0);
        size = entries.size();
        for (ScopeSlice slice : scopes) {
            size += slice.size();
        }
    }

    /** All entries by the time at which they began. */
    public ObservedEntry[] sorted() {
        ObservedEntry[] all = entries.toArray(new ObservedEntry[size]);
        int made = entries.size();
        for (ScopeSlice slice : scopes) {
            for (int i = 0; i < slice.size(); i++) {
                all[made++] = slice.entry(i);
            }
        }
        // By differences, as the clock may go round.
        long any = size == 0 ? 0 : all[0].startNanos;
        Arrays.sort(all, Comparator.comparingLong(entry -> entry.startNanos - any));
        return all;
    }
}
