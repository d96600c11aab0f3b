package io.ctxagent.observe;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Measures how long threads that could run wait until they do: the counterpart of Node's {@code
 * monitorEventLoopDelay}. A probe each {@code resolution}, no further one while one waits.
 *
 * <p>Threads: any; a daemon thread of ours sends the probes while it is enabled. Without the agent:
 * as with it.
 *
 * @since 0.1
 */
public final class DelayMonitor implements AutoCloseable {
    private static final Duration MIN_RESOLUTION = Duration.ofMillis(1);

    /** Runs probes; {@code null}: they run on the thread that sends them. */
    private final Executor probed;

    private final long resolutionNanos;
    private final DurationHistogram histogram = new DurationHistogram();
    private final AtomicBoolean isWaiting = new AtomicBoolean();
    /** When the next probe is due; of the thread that sends them. */
    private long due;

    private ScheduledThreadPoolExecutor sender;

    private DelayMonitor(Executor probed, Duration resolution) {
        if (resolution.compareTo(MIN_RESOLUTION) < 0) {
            throw new IllegalArgumentException(
                    "the resolution is at least " + MIN_RESOLUTION + ", not " + resolution);
        }
        this.probed = probed;
        resolutionNanos = resolution.toNanos();
    }

    /**
     * Measures how late a platform thread wakes up that sleeps for {@code resolution}: for want of
     * a CPU, or as the VM pauses. The system itself takes some 60 microseconds.
     *
     * @param resolution time between two probes, at least a millisecond, not {@code null}
     * @return the monitor, which is not enabled, not {@code null}
     * @throws IllegalArgumentException if the resolution is too small
     */
    public static DelayMonitor ofPlatformThreads(Duration resolution) {
        return new DelayMonitor(null, resolution);
    }

    /**
     * Measures how long a virtual thread waits for a carrier.
     *
     * @param resolution as for {@link #ofPlatformThreads}, not {@code null}
     * @return the monitor, which is not enabled, not {@code null}
     * @throws IllegalArgumentException if the resolution is too small
     * @throws IllegalStateException if this VM has no virtual threads
     */
    public static DelayMonitor ofVirtualThreads(Duration resolution) {
        MethodHandle start = startVirtualThread();
        return new DelayMonitor(
                task -> {
                    try {
                        start.invoke(task);
                    } catch (Error e) {
                        throw e;
                    } catch (Throwable impossible) {
                        throw new AssertionError(impossible);
                    }
                },
                resolution);
    }

    private static MethodHandle startVirtualThread() {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Thread.class,
                            "startVirtualThread",
                            MethodType.methodType(Thread.class, Runnable.class));
        } catch (ReflectiveOperationException before21) {
            throw new IllegalStateException("this VM has no virtual threads, JDK 21 has", before21);
        }
    }

    /**
     * Measures how long a task waits in an executor.
     *
     * @param executor the executor, not {@code null}; one that rejects a probe is asked again
     * @param resolution as for {@link #ofPlatformThreads}, not {@code null}
     * @return the monitor, which is not enabled, not {@code null}
     * @throws IllegalArgumentException if the resolution is too small
     */
    public static DelayMonitor of(Executor executor, Duration resolution) {
        return new DelayMonitor(
                Objects.requireNonNull(executor, "the executor is null"), resolution);
    }

    /**
     * Begins to measure, if it does not already.
     *
     * @return whether it has begun
     */
    public boolean enable() {
        ScheduledThreadPoolExecutor made = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "ctxagent delays");
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            return thread;
        });
        boolean begins = begin(made);
        try {
            if (begins) {
                // Without the lock: a new thread may run code of the application.
                made.scheduleWithFixedDelay(
                        this::probe, resolutionNanos, resolutionNanos, TimeUnit.NANOSECONDS);
            }
        } catch (RejectedExecutionException disabledMeanwhile) {
            // It has begun, and ended.
        }
        return begins;
    }

    private synchronized boolean begin(ScheduledThreadPoolExecutor made) {
        if (sender != null) {
            return false;
        }
        sender = made;
        due = System.nanoTime() + resolutionNanos;
        return true;
    }

    /**
     * Ends measuring, if it does; the histogram stays.
     *
     * @return whether it has ended
     */
    public synchronized boolean disable() {
        if (sender == null) {
            return false;
        }
        sender.shutdownNow();
        sender = null;
        return true;
    }

    /** As {@link #disable}. */
    @Override
    public void close() {
        disable();
    }

    /**
     * The delays so far.
     *
     * @return the histogram, not {@code null}; the same one each time
     */
    public DurationHistogram histogram() {
        return histogram;
    }

    private void probe() {
        long now = System.nanoTime();
        if (probed == null) {
            histogram.record(now - due);
        } else if (isWaiting.compareAndSet(false, true)) {
            boolean isSent = false;
            try {
                probed.execute(() -> arrived(now));
                isSent = true;
            } catch (RuntimeException | VirtualMachineError rejected) {
                // The next round tries again.
            } finally {
                if (!isSent) {
                    isWaiting.set(false);
                }
            }
        }
        due = System.nanoTime() + resolutionNanos;
    }

    private void arrived(long sent) {
        histogram.record(System.nanoTime() - sent);
        isWaiting.set(false);
    }
}
