package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.Test;

public class RequestCostsTest extends ObserverTestCase {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Kept, so that it is allocated. */
    private static byte[] last;

    @Test
    public void platformThreadIsCountedByTheVm() throws Exception {
        long before = THREADS.getCurrentThreadCpuTime();
        RequestCosts begun = RequestCosts.begin();
        long from = THREADS.getCurrentThreadCpuTime();
        last = new byte[1 << 20];
        long until = from;
        while (until < from + 20_000_000) {
            until = THREADS.getCurrentThreadCpuTime();
        }
        Thread.sleep(20);
        until = THREADS.getCurrentThreadCpuTime();
        RequestCosts costs = begun.soFar();
        long after = THREADS.getCurrentThreadCpuTime();
        long cpu = costs.cpu().toNanos();
        assertTrue(costs.toString(), until - from <= cpu && cpu <= after - before);
        assertEquals(costs.cpu(), costs.minCpu());
        assertEquals(costs.cpu(), costs.maxCpu());
        assertEquals(costs.elapsed(), costs.cpu().plus(costs.waiting()));
        assertTrue(costs.toString(), costs.waiting().toMillis() >= 19);
        assertTrue(costs.toString(), costs.allocatedBytes() >= 1 << 20);
        String form =
                "total;dur=[0-9.]+, cpu;dur=[0-9.]+, wait;dur=[0-9.]+, alloc;desc=\"[0-9]+ B\"";
        assertTrue(costs.serverTiming(), costs.serverTiming().matches(form));
        assertEquals(Duration.ZERO, begun.cpu());
    }

    @Test
    public void anotherThreadKnowsTheElapsedTimeOnly() throws Exception {
        RequestCosts begun = RequestCosts.begin();
        AtomicReference<RequestCosts> read = new AtomicReference<>();
        Thread other = new Thread(() -> read.set(begun.soFar()));
        other.start();
        other.join();
        assertNothingKnown(read.get());
    }

    @Test
    public void virtualThreadOutsideOfARecordingIsNotKnown() throws Exception {
        AtomicReference<RequestCosts> read = new AtomicReference<>();
        startVirtualThread(() -> read.set(RequestCosts.begin().soFar())).join();
        assertNothingKnown(read.get());
    }

    private static void assertNothingKnown(RequestCosts costs) {
        assertNotNull(costs);
        assertNull(costs.cpu());
        assertNull(costs.waiting());
        assertEquals(Duration.ZERO, costs.minCpu());
        assertEquals(costs.elapsed(), costs.maxCpu());
        assertEquals(-1, costs.allocatedBytes());
        assertTrue(costs.toString(), costs.toString().matches("total;dur=[0-9.]+"));
    }

    /** The score interval of a Poisson distribution. */
    @Test
    public void intervalOfSamples() {
        assertEquals(0, RequestCosts.bound(0, 10_000, -1));
        assertEquals(38_416, RequestCosts.bound(0, 10_000, 1));
        assertEquals(54_321, RequestCosts.bound(10, 10_000, -1), 50);
        assertEquals(184_095, RequestCosts.bound(10, 10_000, 1), 50);
    }
}
