package io.ctxagent.internal.propagation;

import io.ctxagent.internal.agent.Rethrow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An executor service that runs each task with the context of the thread that handed it over. */
public class ContextExecutorService<E extends ExecutorService> extends ContextExecutor<E>
        implements ExecutorService {
    /** Hands tasks on to {@code executor}. */
    public ContextExecutorService(E executor, SnapshotSource source) {
        super(executor, source);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return executor.submit(carry(task));
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        return executor.submit(carry(task), result);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return executor.submit(carry(task));
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks)
            throws InterruptedException {
        return executor.invokeAll(all(tasks));
    }

    @Override
    public <T> List<Future<T>> invokeAll(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException {
        return executor.invokeAll(all(tasks), timeout, unit);
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        return executor.invokeAny(all(tasks));
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return executor.invokeAny(all(tasks), timeout, unit);
    }

    private <T> List<Callable<T>> all(Collection<? extends Callable<T>> tasks) {
        List<Callable<T>> carried = new ArrayList<>(tasks.size());
        for (Callable<T> task : tasks) {
            carried.add(carry(task));
        }
        return carried;
    }

    @Override
    public void shutdown() {
        executor.shutdown();
    }

    /** The tasks as they were handed over. */
    @Override
    public List<Runnable> shutdownNow() {
        List<Runnable> tasks = new ArrayList<>();
        for (Runnable task : executor.shutdownNow()) {
            tasks.add((Runnable) ContextTasks.unwrapped(task));
        }
        return tasks;
    }

    /**
     * Closes the executor itself: some never end, and the interface's own method waits for the end.
     * An executor service can be closed since 19; before, the method overrides nothing and nobody
     * calls it.
     */
    public void close() {
        if (executor instanceof AutoCloseable) {
            try {
                ((AutoCloseable) executor).close();
            } catch (Exception ofTheExecutor) {
                throw Rethrow.unchecked(ofTheExecutor);
            }
        }
    }

    @Override
    public boolean isShutdown() {
        return executor.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return executor.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return executor.awaitTermination(timeout, unit);
    }
}
