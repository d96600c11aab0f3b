package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.Slab;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Many threads, and a reader beside the writer. */
public class ConcurrencyTest extends ContextTestCase {
    private static final String[] VALUES = {"v0", "v1", "v2", "v3", "v4", "v5", "v6"};

    private static final BlockingQueue<CountDownLatch> PARKED = new LinkedBlockingQueue<>();

    private Thread waker;

    /**
     * Opens and closes nested scopes, and checks at each step that this thread's block says what
     * this thread did.
     */
    private static void nest(String name, int depth, String a, String b) throws Exception {
        String expected = "{key0=" + a + ", key1=" + b + ", key7=" + name + "}";
        assertEquals(expected, RecordingContext.describe());
        if (depth == 0) {
            return;
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String next = VALUES[random.nextInt(VALUES.length)];
        if (random.nextBoolean()) {
            try (RecordingContext c = RecordingContext.where(A, next).build()) {
                nest(name, depth - 1, next, b);
            }
        } else {
            try (RecordingContext c = RecordingContext.where(B, next).build()) {
                nest(name, depth - 1, a, next);
            }
        }
        if (random.nextInt(8) == 0) {
            meet();
        } else {
            Thread.yield();
        }
        assertEquals(expected, RecordingContext.describe());
    }

    /**
     * Parks this thread, and so takes a virtual one off its carrier, until the waker has come by.
     */
    private static void meet() throws InterruptedException {
        CountDownLatch woken = new CountDownLatch(1);
        PARKED.add(woken);
        woken.await();
    }

    @Before
    public void startWaker() {
        waker = new Thread(() -> {
            try {
                while (true) {
                    PARKED.take().countDown();
                }
            } catch (InterruptedException end) {
                // All threads that park are done.
            }
        });
        waker.start();
    }

    @After
    public void endWaker() throws InterruptedException {
        waker.interrupt();
        waker.join();
    }

    private static void run(List<Thread> threads, AtomicReference<Throwable> failure)
            throws Exception {
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(120_000);
            assertEquals(false, thread.isAlive());
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    private static Runnable nesting(
            String name, AtomicReference<Throwable> failure, AtomicInteger done) {
        return () -> {
            try {
                for (int round = 0; round < 20; round++) {
                    try (RecordingContext c = RecordingContext.where(RAW, name)
                            .where(A, "v0")
                            .where(B, "v0")
                            .build()) {
                        nest(name, 6, "v0", "v0");
                    }
                }
                done.incrementAndGet();
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
            }
        };
    }

    @Test
    public void platformThreadsKeepTheirContexts() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            threads.add(new Thread(nesting("platform-" + i, failure, done)));
        }
        run(threads, failure);
        assertEquals(64, done.get());
    }

    @Test
    public void virtualThreadsKeepTheirContexts() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            threads.add(virtualThread(nesting("virtual-" + i, failure, done)));
        }
        run(threads, failure);
        assertEquals(300, done.get());
    }

    /**
     * The reader's side of the protocol, as the agent has it: sequence even and the same
     * before and after.
     */
    @Test
    public void aReaderNeverSeesHalfAContext() throws Exception {
        int[] ids = new int[2];
        try (RecordingContext c =
                RecordingContext.where(A, "left").where(B, "left").build()) {
            ids[0] = Slab.id(Slab.find(CurrentThread.key()), A.slot());
        }
        try (RecordingContext c =
                RecordingContext.where(A, "right").where(B, "right").build()) {
            ids[1] = Slab.id(Slab.find(CurrentThread.key()), A.slot());
        }
        AtomicInteger stop = new AtomicInteger();
        long[] block = new long[1];
        Thread writer = new Thread(() -> {
            RecordingContext.where(A, "left").build().close();
            synchronized (block) {
                block[0] = Slab.find(CurrentThread.key());
                block.notifyAll();
            }
            while (stop.get() == 0) {
                try (RecordingContext l =
                        RecordingContext.where(A, "left").where(B, "left").build()) {
                    RecordingContext.where(A, "right").where(B, "right").build().close();
                }
            }
        });
        writer.start();
        synchronized (block) {
            while (block[0] == 0) {
                block.wait(10_000);
            }
        }
        long consistent = 0;
        boolean[] seen = new boolean[3];
        long end = System.nanoTime() + 60_000_000_000L;
        while ((consistent < 20_000 || !(seen[0] && seen[1])) && System.nanoTime() < end) {
            int before = Slab.sequence(block[0]);
            java.lang.invoke.VarHandle.acquireFence();
            int a = Slab.id(block[0], A.slot());
            int b = Slab.id(block[0], B.slot());
            java.lang.invoke.VarHandle.acquireFence();
            if ((before & 1) == 0 && Slab.sequence(block[0]) == before) {
                consistent++;
                assertTrue(a + " " + b, a == b && (a == 0 || a == ids[0] || a == ids[1]));
                seen[a == ids[0] ? 0 : a == ids[1] ? 1 : 2] = true;
            }
        }
        stop.set(1);
        writer.join();
        assertTrue(
                consistent + " reads, both contexts seen",
                consistent >= 20_000 && seen[0] && seen[1]);
    }
}
