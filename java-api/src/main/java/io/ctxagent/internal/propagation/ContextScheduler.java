package io.ctxagent.internal.propagation;

import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A scheduled executor service that runs each task with the context of its submitter. */
public final class ContextScheduler extends ContextExecutorService<ScheduledExecutorService>
        implements ScheduledExecutorService {
    /** Hands tasks on to {@code executor}. */
    public ContextScheduler(ScheduledExecutorService executor, SnapshotSource source) {
        super(executor, source);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return executor.schedule(carry(task), delay, unit);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return executor.schedule(carry(task), delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(
            Runnable task, long initialDelay, long period, TimeUnit unit) {
        return executor.scheduleAtFixedRate(carry(task), initialDelay, period, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(
            Runnable task, long initialDelay, long delay, TimeUnit unit) {
        return executor.scheduleWithFixedDelay(carry(task), initialDelay, delay, unit);
    }
}
