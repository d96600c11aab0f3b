package jdk.internal.javac;

import java.util.function.Function;

/**
 * Contexts of tasks that run as the very object that the application handed over, so that nothing
 * can be put in their place: the context is noted where the task is handed over, and taken where it
 * runs. A task that is not found runs without.
 */
public abstract class TaskTable implements Function<Object, Object> {
    /** By task, what runs it with its context. */
    private final WeakTable contexts = new WeakTable();

    /** For its tables only. */
    protected TaskTable() {}

    /** Runs a task without its context. */
    @Override
    public abstract Object apply(Object task);

    /** Notes the context of the current thread, if it has one, for the task. */
    public final void note(int mechanism, Object task) {
        Object run = TaskEntry.carried(mechanism, this, Function.class);
        if (run != this) {
            contexts.put(task, run);
        }
    }

    /** Runs the task with the context noted for {@code key}. */
    @SuppressWarnings("unchecked")
    public final Object run(Object key, Object task) {
        Object run = contexts.take(key);
        return (run == null ? this : (Function<Object, Object>) run).apply(task);
    }
}
