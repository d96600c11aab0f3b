package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

public class DelayMonitorTest extends ObserverTestCase {
    private static final Duration RESOLUTION = Duration.ofMillis(2);

    private static void awaitCount(DurationHistogram histogram, long count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (histogram.count() < count) {
            assertTrue(histogram.toString(), System.nanoTime() < end);
            Thread.onSpinWait();
        }
    }

    private static final class Probe {
        final Runnable task;
        final long sent = System.nanoTime();

        Probe(Runnable task) {
            this.task = task;
        }
    }

    @Test
    public void knownDelayOfAnExecutorIsSeen() throws Exception {
        BlockingQueue<Probe> probes = new LinkedBlockingQueue<>();
        try (DelayMonitor monitor =
                DelayMonitor.of(task -> probes.add(new Probe(task)), RESOLUTION)) {
            assertTrue(monitor.enable());
            assertFalse("it is", monitor.enable());
            long longest = 0;
            for (int millis : new int[] {5, 200, 20}) {
                Probe probe = probes.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                assertNotNull(probe);
                while (System.nanoTime() - probe.sent < TimeUnit.MILLISECONDS.toNanos(millis)) {
                    Thread.onSpinWait();
                }
                assertTrue("one at a time", probes.isEmpty());
                long before = System.nanoTime() - probe.sent;
                probe.task.run();
                // The thread that sends may lose its CPU between its clock and the executor.
                longest = Math.max(longest, before);
            }
            DurationHistogram histogram = monitor.histogram();
            assertEquals(3, histogram.count());
            double share = (double) histogram.max().toNanos() / longest;
            assertTrue(histogram + " of " + longest, share > 0.95);
            assertTrue(monitor.disable());
            assertFalse("it is", monitor.disable());
            histogram.reset();
            assertTrue("again", monitor.enable());
        }
    }

    @Test
    public void executorThatRejectsIsAskedAgain() {
        AtomicInteger asked = new AtomicInteger();
        try (DelayMonitor monitor = DelayMonitor.of(
                task -> {
                    if (asked.incrementAndGet() < 3) {
                        throw new RejectedExecutionException();
                    }
                    task.run();
                },
                RESOLUTION)) {
            monitor.enable();
            awaitCount(monitor.histogram(), 2);
        }
        assertTrue(asked.get() >= 4);
    }

    @Test
    public void platformAndVirtualThreadsAreProbed() {
        try (DelayMonitor monitor = DelayMonitor.ofPlatformThreads(RESOLUTION)) {
            monitor.enable();
            awaitCount(monitor.histogram(), 5);
        }
        if (Runtime.version().feature() < 21) {
            assertThrows(
                    IllegalStateException.class, () -> DelayMonitor.ofVirtualThreads(RESOLUTION));
            return;
        }
        try (DelayMonitor monitor = DelayMonitor.ofVirtualThreads(RESOLUTION)) {
            monitor.enable();
            awaitCount(monitor.histogram(), 5);
        }
    }

    @Test
    public void wrongUseIsRefused() {
        Duration tooShort = Duration.ofNanos(999_999);
        assertThrows(
                IllegalArgumentException.class, () -> DelayMonitor.ofPlatformThreads(tooShort));
        assertThrows(NullPointerException.class, () -> DelayMonitor.of(null, RESOLUTION));
    }
}
