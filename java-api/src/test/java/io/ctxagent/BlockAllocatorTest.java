package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.Slab;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** Who has which block, and for how long. */
public class BlockAllocatorTest extends ContextTestCase {
    private static long blockOfThis() {
        return Slab.find(CurrentThread.key());
    }

    /** Opens and closes an outermost scope. */
    private static void comeAndGo() {
        RecordingContext.where(A, "a").build().close();
    }

    @Test
    public void virtualThreadReleasesItsFirstBlock() throws Exception {
        inVirtualThread(() -> {
            comeAndGo();
            assertEquals(Slab.NONE, blockOfThis());
        });
    }

    @Test
    public void returningVirtualThreadKeepsItsPreferredBlock() throws Exception {
        inVirtualThread(() -> {
            comeAndGo();
            comeAndGo();
            long block = blockOfThis();
            assertNotEquals(Slab.NONE, block);
            assertEquals(Slab.preferred(CurrentThread.key()), block);
            assertEquals(
                    0,
                    Slab.ids(block, 0)
                            | Slab.ids(block, 1)
                            | Slab.ids(block, 2)
                            | Slab.ids(block, 3));
            assertTrue(Slab.isEmpty(block));
            RecordingContext.where(A, "again").run(() -> assertEquals(block, blockOfThis()));
            assertEquals(block, blockOfThis());
        });
    }

    /**
     * Nothing remembers where a thread's block lay. A virtual thread whose place
     * another one took in the meantime finds itself a new one, and the other's stays as it is.
     */
    @Test
    public void threadWithTakenPlaceGetsAnother() throws Exception {
        inVirtualThread(() -> {
            long[] before = new long[1];
            RecordingContext.where(A, "first").run(() -> before[0] = blockOfThis());
            long stranger = Long.MAX_VALUE - 1;
            assertTrue("given back, and taken by another", Slab.claim(before[0], stranger, false));
            try {
                RecordingContext.where(A, "second").run(() -> {
                    assertNotEquals(before[0], blockOfThis());
                    assertEquals("{key0=second}", RecordingContext.describe());
                });
                assertEquals(stranger, Slab.owner(before[0]));
                assertEquals(0, Slab.ids(before[0], 0));
            } finally {
                Slab.release(before[0]);
            }
        });
    }

    @Test
    public void aPlatformThreadKeepsItsBlock() throws Exception {
        inThread(() -> {
            comeAndGo();
            long block = blockOfThis();
            assertNotEquals(Slab.NONE, block);
            comeAndGo();
            assertEquals(block, blockOfThis());
        });
    }

    /** More threads than blocks: kept blocks of threads that have ended must be found again. */
    @Test
    public void blocksOfEndedVirtualThreadsAreTakenOver() throws Exception {
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        int left = BlockLayout.BLOCKS + BlockLayout.BLOCKS / 2;
        while (left > 0) {
            List<Thread> batch = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                batch.add(virtualThread(() -> {
                    comeAndGo();
                    comeAndGo();
                    try (RecordingContext c = RecordingContext.where(B, "third").build()) {
                        if (!RecordingContext.describe().equals("{key1=third}")) {
                            wrong.add(RecordingContext.describe());
                        }
                    }
                }));
            }
            batch.forEach(Thread::start);
            for (Thread thread : batch) {
                thread.join();
            }
            left -= batch.size();
        }
        assertTrue(wrong.toString(), wrong.isEmpty());
        assertEquals(0, counted(Misuse.NO_FREE_BLOCK));
    }

    /** A leaked scope is cleared before the block has a new owner. */
    @Test
    public void takeOverClearsTheBlock() throws Exception {
        long[] at = new long[1];
        inVirtualThread(() -> {
            comeAndGo();
            comeAndGo();
            RecordingContext.where(A, "leaked").where(RAW, "leaked").build();
            at[0] = blockOfThis();
        });
        assertNotEquals(Slab.NONE, at[0]);
        long dead = Slab.owner(at[0]);
        assertTrue(
                "the block of the wrong owner",
                !Slab.takeOver(at[0], dead + 1, CurrentThread.key(), true));
        assertTrue(Slab.takeOver(at[0], dead, -7, true));
        try {
            assertEquals(-7, Slab.owner(at[0]));
            assertEquals(
                    0,
                    Slab.ids(at[0], 0)
                            | Slab.ids(at[0], 1)
                            | Slab.ids(at[0], 2)
                            | Slab.ids(at[0], 3));
            assertEquals(0, Slab.rawUsed(at[0]));
            assertEquals(0, Slab.sequence(at[0]) & 1);
        } finally {
            Slab.release(at[0]);
        }
    }

    /** Kept blocks of live threads stay theirs, and leave room for those who come and go. */
    @Test
    public void blocksOfParkedVirtualThreadsAreKept() throws Exception {
        int parked = 1_500;
        long[] blocks = new long[parked];
        CountDownLatch kept = new CountDownLatch(parked);
        CountDownLatch go = new CountDownLatch(1);
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < parked; i++) {
            int at = i;
            threads.add(virtualThread(() -> {
                comeAndGo();
                comeAndGo();
                blocks[at] = blockOfThis();
                kept.countDown();
                await(go);
                if (blocks[at] != Slab.NONE && blockOfThis() != blocks[at]) {
                    wrong.add("block of thread " + at + " was taken");
                }
                comeAndGo();
            }));
        }
        threads.forEach(Thread::start);
        assertTrue(kept.await(60, TimeUnit.SECONDS));
        for (int i = 0; i < 1_000; i++) {
            Thread other = virtualThread(() -> RecordingContext.where(A, "a").run(() -> {
                if (!A.isBound()) {
                    wrong.add("a newcomer found no block");
                }
            }));
            other.start();
            other.join();
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(wrong.toString(), wrong.isEmpty());
        assertEquals(0, counted(Misuse.NO_FREE_BLOCK));
    }

    /**
     * As many threads as places in their neighbourhoods, most of which keep theirs: each still
     * finds one.
     */
    @Test
    public void consecutiveIdsAllFindABlock() throws Exception {
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        for (int round = 0; round < 20; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                threads.add(virtualThread(() -> {
                    for (int n = 0; n < 20; n++) {
                        RecordingContext.where(A, "a").run(() -> {
                            Thread.yield();
                            if (!A.isBound()) {
                                wrong.add("no block");
                            }
                        });
                        Thread.yield();
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertTrue(wrong.toString(), wrong.isEmpty());
        assertEquals(0, counted(Misuse.NO_FREE_BLOCK));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
