package io.ctxagent.observe;

import io.ctxagent.internal.observe.EntryBatch;
import io.ctxagent.internal.observe.ObservedEntry;
import java.util.AbstractList;
import java.util.RandomAccess;

/** Entries by the time at which they began; made when somebody looks at one. */
final class LazyEntries extends AbstractList<Entry> implements RandomAccess {
    private final int size;
    /** {@code null}: they are made. Guarded by this object. */
    private EntryBatch batch;

    private volatile Entry[] made;

    LazyEntries(EntryBatch batch) {
        this.batch = batch;
        size = batch.size();
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Entry get(int index) {
        Entry[] entries = made;
        return (entries == null ? make() : entries)[index];
    }

    private synchronized Entry[] make() {
        if (made == null) {
            ObservedEntry[] sorted = batch.sorted();
            Entry[] entries = new Entry[sorted.length];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = new Entry(sorted[i]);
            }
            made = entries;
            batch = null;
        }
        return made;
    }
}
