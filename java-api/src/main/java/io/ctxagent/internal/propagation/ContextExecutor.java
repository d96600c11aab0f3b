package io.ctxagent.internal.propagation;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;

/** An executor that runs each task with the context of the thread that handed it over. */
public class ContextExecutor<E extends Executor> implements Executor {
    final E executor;
    private final SnapshotSource source;

    /** Hands tasks on to {@code executor}. */
    public ContextExecutor(E executor, SnapshotSource source) {
        this.executor = executor;
        this.source = source;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(carry(task));
    }

    final Runnable carry(Runnable task) {
        Objects.requireNonNull(task, "the task is null");
        ContextSnapshot snapshot = source.capture();
        return snapshot == null ? task : ContextTasks.of(task, snapshot);
    }

    final <T> Callable<T> carry(Callable<T> task) {
        Objects.requireNonNull(task, "the task is null");
        ContextSnapshot snapshot = source.capture();
        return snapshot == null ? task : ContextTasks.of(task, snapshot);
    }
}
