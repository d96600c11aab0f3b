package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.Test;

public class UtilizationTest extends ObserverTestCase {
    @Test
    public void busyAndWaitingThreadAreToldApart() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Thread busy = new Thread(
                () -> {
                    while (end.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                },
                "utilization-busy");
        Thread waits = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException impossible) {
                        throw new AssertionError(impossible);
                    }
                },
                "utilization-waits");
        busy.start();
        waits.start();
        Utilization before = Utilization.ofThreads("utilization-");
        Utilization of = before;
        // A tenth of a second of CPU, however long that takes.
        while (of.since(before).active().toMillis() < 100) {
            of = Utilization.ofThreads("utilization-");
        }
        Utilization both = of.since(before);
        Utilization one = Utilization.ofThreads("utilization-busy").since(before);
        Utilization other = Utilization.ofThreads("utilization-waits").since(before);
        end.countDown();
        busy.join();
        waits.join();
        assertEquals(2, both.threads());
        assertEquals(1, one.threads());
        assertTrue(one.toString(), one.utilization() > 0 && one.utilization() <= 1);
        assertTrue(other.toString(), other.utilization() < one.utilization() / 10);
        assertEquals(
                both.utilization(),
                (double) both.active().toNanos()
                        / both.active().plus(both.idle()).toNanos(),
                1e-9);
        assertTrue("half of the threads wait", both.utilization() <= 0.51);
        assertEquals(0, Utilization.ofThreads("utilization-").threads());
        assertEquals(0, Utilization.ofThreads("nobody").utilization(), 0);
    }

    @Test
    public void carriersAreFound() throws Exception {
        if (Runtime.version().feature() < 21) {
            assertEquals(0, Utilization.ofCarriers().threads());
            return;
        }
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = startVirtualThread(() -> {
            begun.countDown();
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
        });
        begun.await();
        Utilization carriers = Utilization.ofCarriers();
        end.countDown();
        thread.join();
        assertTrue(carriers.toString(), carriers.threads() > 0);
    }
}
