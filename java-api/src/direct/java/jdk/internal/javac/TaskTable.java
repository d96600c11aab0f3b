package jdk.internal.javac;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;

/**
 * Contexts of tasks that run as the very object that the application handed over, so that nothing
 * can be put in their place: the context is noted where the task is handed over, and taken where it
 * runs. A task that is not found runs without.
 *
 * <p>Holds {@value #SLOTS} contexts; one more takes the place of another. It keeps no task alive.
 */
public abstract class TaskTable implements Function<Object, Object> {
    private static final int SLOTS = 4_096;
    /** Slots that a task may have. */
    private static final int PROBES = 8;

    private final AtomicReferenceArray<Entry> entries = new AtomicReferenceArray<>(SLOTS);
    /** Contexts that others took the place of. */
    private final AtomicLong displaced = new AtomicLong();
    /** Whether a context was ever noted: until then no task needs a look. */
    private volatile boolean isUsed;

    /** For its tables only. */
    protected TaskTable() {}

    /** Runs a task without its context. */
    @Override
    public abstract Object apply(Object task);

    /** Notes the context of the current thread, if it has one, for the task. */
    public final void note(int mechanism, Object task) {
        Object run = TaskEntry.carried(mechanism, this, Function.class);
        if (run != this) {
            isUsed = true;
            put(new Entry(task, run));
        }
    }

    /** The task is to run without a context; what is noted later does not count. */
    protected final void refuse(Object task) {
        isUsed = true;
        put(new Entry(task, null));
    }

    /** Whether a context is noted for the task, or refused. */
    protected final boolean knows(Object task) {
        return isUsed && find(task, false) != null;
    }

    /** Runs the task with the context noted for {@code key}. */
    public final Object run(Object key, Object task) {
        Entry entry = isUsed ? find(key, true) : null;
        return (entry == null || entry.run == null ? this : entry.run).apply(task);
    }

    private void put(Entry entry) {
        int first = entry.first;
        for (int i = first; i < first + PROBES; i++) {
            Entry known = entries.get(i % SLOTS);
            boolean isFree = known == null || known.refersTo(null);
            if (isFree && entries.compareAndSet(i % SLOTS, known, entry)) {
                return;
            }
        }
        entries.set(first, entry);
        displaced.incrementAndGet();
    }

    private Entry find(Object task, boolean taking) {
        int first = first(task);
        for (int i = first; i < first + PROBES; i++) {
            Entry entry = entries.get(i % SLOTS);
            if (entry != null && entry.refersTo(task)) {
                boolean isOurs = !taking || entries.compareAndSet(i % SLOTS, entry, null);
                return isOurs ? entry : null;
            }
        }
        return null;
    }

    private static int first(Object task) {
        return System.identityHashCode(task) % SLOTS;
    }

    private static final class Entry extends WeakReference<Object> {
        final int first;
        /** Runs the task with its context; {@code null} if it is to have none. */
        final Function<Object, Object> run;

        @SuppressWarnings("unchecked")
        Entry(Object task, Object run) {
            super(task);
            this.first = first(task);
            this.run = (Function<Object, Object>) run;
        }
    }
}
