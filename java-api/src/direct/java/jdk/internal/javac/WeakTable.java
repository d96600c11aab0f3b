package jdk.internal.javac;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Values by the identity of objects, which it does not keep alive. Without a lock. Holds {@value
 * #SLOTS} of them; one more takes the place of another, which is counted.
 */
public final class WeakTable {
    private static final int SLOTS = 4_096;
    /** Slots that an object may have. */
    private static final int PROBES = 8;

    private final AtomicReferenceArray<Entry> entries = new AtomicReferenceArray<>(SLOTS);
    /** Whether anything was ever put: until then no object needs a look. */
    private volatile boolean isUsed;

    /** Of an object that is not there; {@code value} may be {@code null}. */
    public void put(Object key, Object value) {
        isUsed = true;
        Entry entry = new Entry(key, value);
        int first = first(key);
        for (int i = first; i < first + PROBES; i++) {
            Entry known = entries.get(i % SLOTS);
            boolean isFree = known == null || known.refersTo(null);
            if (isFree && entries.compareAndSet(i % SLOTS, known, entry)) {
                return;
            }
        }
        entries.set(first, entry);
        TaskEntry.count(TaskEntry.LOST);
    }

    public boolean has(Object key) {
        return isUsed && place(key) >= 0;
    }

    /** Takes the object out; {@code null} without a value. Of several threads one gets it. */
    public Object take(Object key) {
        int place = isUsed ? place(key) : -1;
        Entry entry = place < 0 ? null : entries.get(place);
        boolean isOurs =
                entry != null && entry.refersTo(key) && entries.compareAndSet(place, entry, null);
        return isOurs ? entry.value : null;
    }

    private int place(Object key) {
        int first = first(key);
        for (int i = first; i < first + PROBES; i++) {
            Entry entry = entries.get(i % SLOTS);
            if (entry != null && entry.refersTo(key)) {
                return i % SLOTS;
            }
        }
        return -1;
    }

    private static int first(Object key) {
        return System.identityHashCode(key) % SLOTS;
    }

    private static final class Entry extends WeakReference<Object> {
        final Object value;

        Entry(Object key, Object value) {
            super(key);
            this.value = value;
        }
    }
}
