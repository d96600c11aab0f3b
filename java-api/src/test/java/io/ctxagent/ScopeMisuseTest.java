package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.Slab;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** Scopes as they should not be used: repaired and counted, never thrown. */
public class ScopeMisuseTest extends ContextTestCase {
    @Test
    public void closingTwiceChangesNothing() {
        try (RecordingContext outer = RecordingContext.where(A, "a").build()) {
            RecordingContext inner = RecordingContext.where(A, "b").build();
            inner.close();
            inner.close();
            inner.close();
            assertEquals("{key0=a}", RecordingContext.describe());
        }
        assertEquals(2, counted(Misuse.DOUBLE_CLOSE));
    }

    /** An attribute has the value of the innermost scope that is open. */
    @Test
    public void outerCloseLeavesInnerScopes() {
        RecordingContext outer = RecordingContext.where(A, "a").build();
        RecordingContext middle = RecordingContext.where(B, "b").build();
        RecordingContext inner = RecordingContext.where(A, "c").build();
        outer.close();
        assertEquals("{key0=c, key1=b}", RecordingContext.describe());
        inner.close();
        assertEquals("not the outer one's again", "{key1=b}", RecordingContext.describe());
        middle.close();
        assertEquals(1, counted(Misuse.CLOSE_OUT_OF_ORDER));
    }

    @Test
    public void scopesOfOneAttributeCloseInAnyOrder() {
        int[][] orders = {
            {0, 1, 2, 3},
            {3, 2, 1, 0},
            {1, 0, 3, 2},
            {2, 1, 0, 3},
            {0, 2, 1, 3},
            {1, 2, 0, 3},
            {3, 0, 1, 2},
            {2, 3, 1, 0}
        };
        for (int[] order : orders) {
            RecordingContext.put(A, "put");
            List<RecordingContext> open = new ArrayList<>();
            List<Integer> left = new ArrayList<>();
            for (int i = 0; i < order.length; i++) {
                open.add(RecordingContext.where(A, "v" + i).where(RAW, "r" + i).build());
                left.add(i);
            }
            for (int at : order) {
                open.get(at).close();
                left.remove((Integer) at);
                int top = left.isEmpty() ? -1 : left.get(left.size() - 1);
                assertEquals(
                        Arrays.toString(order) + " after " + at,
                        top < 0 ? "{key0=put}" : "{key0=v" + top + ", key7=r" + top + "}",
                        RecordingContext.describe());
            }
            RecordingContext.remove(A);
        }
    }

    @Test
    public void lateCloseSparesNewScope() {
        RecordingContext outer = RecordingContext.where(A, "old").build();
        RecordingContext inner = RecordingContext.where(B, "old").build();
        outer.close();
        try (RecordingContext fresh = RecordingContext.where(A, "new").build()) {
            inner.close();
            outer.close();
            assertEquals("{key0=new}", RecordingContext.describe());
        }
        assertEquals(0, counted(Misuse.CLOSE_OUT_OF_ORDER));
        assertEquals(1, counted(Misuse.DOUBLE_CLOSE));
    }

    /** What has no place among the ended scopes is lost, and nothing of it comes back. */
    @Test
    public void veryManyClosesOutOfOrderNeverRestoreAContext() {
        List<RecordingContext> open = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            open.add(RecordingContext.where(A, "v" + i).build());
        }
        for (int i = 0; i < 299; i++) {
            open.get(i).close();
            String seen = RecordingContext.describe();
            assertTrue(i + " " + seen, seen.equals(i < 256 ? "{key0=v299}" : "{}"));
        }
        open.get(299).close();
        assertEquals("{}", RecordingContext.describe());
        try (RecordingContext outer = RecordingContext.where(A, "outer").build()) {
            RecordingContext inner = RecordingContext.where(A, "inner").build();
            RecordingContext innermost = RecordingContext.where(A, "innermost").build();
            inner.close();
            innermost.close();
            assertEquals("new ones are noted again", "{key0=outer}", RecordingContext.describe());
        }
    }

    /** What is noted of 4 096 threads makes room for that of others when these have ended. */
    @Test
    public void misuseOfManyThreadsIsKeptApart() throws Exception {
        for (int batch = 0; batch < 42; batch++) {
            Thread[] others = new Thread[100];
            Arrays.setAll(others, i -> new Thread(ScopeMisuseTest::leakOutOfOrder));
            for (Thread other : others) {
                other.start();
            }
            for (Thread other : others) {
                other.join();
            }
        }
        freeBlocksOfEndedThreads();
        try (RecordingContext around = RecordingContext.where(A, "around").build()) {
            RecordingContext outer = RecordingContext.where(A, "outer").build();
            RecordingContext inner = RecordingContext.where(A, "inner").build();
            outer.close();
            assertEquals("{key0=inner}", RecordingContext.describe());
            inner.close();
            assertEquals("{key0=around}", RecordingContext.describe());
        }
    }

    /** The inner scope is never closed. */
    private static void leakOutOfOrder() {
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext.where(A, "inner").build();
        outer.close();
    }

    @Test
    public void foreignCloseTakesEffectAtTheOwnersNextCall() throws Exception {
        RecordingContext mine = RecordingContext.where(A, "a").build();
        inThread(mine::close);
        long block = Slab.find(CurrentThread.key());
        assertTrue("samples carry no context until then", Slab.hasForeignClose(block));
        try (RecordingContext next = RecordingContext.where(B, "b").build()) {
            assertFalse(Slab.hasForeignClose(block));
            assertEquals("{key1=b}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.CLOSE_ON_OTHER_THREAD));
        assertEquals(0, counted(Misuse.CLOSE_OUT_OF_ORDER));
    }

    @Test
    public void foreignClosesAreCarriedOutByEachCallOfTheOwner() throws Exception {
        ContextTestCase.Body[] calls = {
            () -> RecordingContext.describe(),
            () -> RecordingContext.snapshot(),
            () -> A.isBound(),
            () -> RecordingContext.put(A, null),
            () -> RecordingContext.where(B, "b").build().close(),
        };
        for (ContextTestCase.Body call : calls) {
            try (RecordingContext around = RecordingContext.where(B, "around").build()) {
                RecordingContext outer = RecordingContext.where(A, "a").build();
                RecordingContext inner = RecordingContext.where(B, "b").build();
                inThread(inner::close);
                inThread(outer::close);
                call.run();
                assertFalse(Slab.hasForeignClose(Slab.find(CurrentThread.key())));
                assertEquals("{key1=around}", RecordingContext.describe());
                inner.close();
                outer.close();
                assertEquals("{key1=around}", RecordingContext.describe());
            }
        }
        assertEquals(10, counted(Misuse.CLOSE_ON_OTHER_THREAD));
        assertEquals(10, counted(Misuse.DOUBLE_CLOSE));
    }

    @Test
    public void foreignClosesEndTheirScopesOnly() throws Exception {
        int[][] orders = {
            {1}, {1, 0}, {0, 1}, {2, 1, 0}, {0, 1, 2}, {1, 2, 0}, {1, 0, 2}, {1, 0, 1}, {1, 0, 0},
            {0}
        };
        for (int[] order : orders) {
            try (RecordingContext around = RecordingContext.where(A, "around").build()) {
                List<RecordingContext> nested = new ArrayList<>();
                List<Integer> left = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    nested.add(RecordingContext.where(A, "nested" + i)
                            .where(B, "b")
                            .where(RAW, "raw")
                            .build());
                    left.add(i);
                }
                for (int closed : order) {
                    inThread(nested.get(closed)::close);
                    left.remove((Integer) closed);
                }
                try (RecordingContext next =
                        RecordingContext.where(KEYS[2], "next").build()) {
                    String expected = left.isEmpty()
                            ? "{key0=around, key2=next}"
                            : "{key0=nested" + left.get(left.size() - 1)
                                    + ", key1=b, key2=next, key7=raw}";
                    assertEquals(Arrays.toString(order), expected, RecordingContext.describe());
                }
                nested.forEach(RecordingContext::close);
                assertEquals(Arrays.toString(order), "{key0=around}", RecordingContext.describe());
            }
        }
        assertEquals(0, counted(Misuse.ALL_ENDED));
    }

    @Test
    public void foreignClosesRaceWithReads() throws Exception {
        RecordingContext[] nested = new RecordingContext[50];
        for (int round = 0; round < 200; round++) {
            try (RecordingContext around = RecordingContext.where(A, "around").build()) {
                Arrays.setAll(nested, i -> RecordingContext.where(A, "nested").build());
                Thread other = new Thread(() -> {
                    for (int i = nested.length; i-- > 0; ) {
                        nested[i].close();
                    }
                });
                other.start();
                while (other.isAlive()) {
                    A.isBound();
                    Thread.yield();
                }
                try (RecordingContext next = RecordingContext.where(B, "next").build()) {
                    assertEquals(
                            "round " + round,
                            "{key0=around, key1=next}",
                            RecordingContext.describe());
                }
            }
        }
    }

    @Test
    public void ownCloseAfterForeignOneIsHarmless() throws Exception {
        try (RecordingContext outer = RecordingContext.where(A, "a").build()) {
            RecordingContext inner = RecordingContext.where(A, "b").build();
            inThread(inner::close);
            inner.close();
            assertEquals("{key0=a}", RecordingContext.describe());
        }
    }

    @Test
    public void foreignCloseAfterTheOwnerEndedDoesNothing() throws Exception {
        RecordingContext[] leaked = new RecordingContext[1];
        long[] block = new long[1];
        inVirtualThread(() -> {
            leaked[0] = RecordingContext.where(A, "a").build();
            block[0] = Slab.find(CurrentThread.key());
            RecordingContext.where(B, "b").build().close();
            leaked[0].close();
        });
        leaked[0].close();
        assertFalse(Slab.hasForeignClose(block[0]));
        assertEquals(1, counted(Misuse.DOUBLE_CLOSE));
    }

    @Test
    public void foreignCloseRacesWithTheOwner() throws Exception {
        for (int round = 0; round < 2_000; round++) {
            RecordingContext outer = RecordingContext.where(A, "outer").build();
            RecordingContext raced = RecordingContext.where(A, "raced").build();
            CountDownLatch start = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                start.countDown();
                raced.close();
            });
            other.start();
            assertTrue(start.await(10, TimeUnit.SECONDS));
            raced.close();
            for (int i = 0; i < 10; i++) {
                try (RecordingContext next = RecordingContext.where(B, "b" + i).build()) {
                    assertEquals("{key0=outer, key1=b" + i + "}", RecordingContext.describe());
                }
            }
            other.join();
            try (RecordingContext next = RecordingContext.where(B, "b").build()) {
                assertEquals("{key0=outer, key1=b}", RecordingContext.describe());
            }
            outer.close();
            assertEquals("{}", RecordingContext.describe());
        }
    }

    /** Another copy of the API, in another loader, has the note. */
    @Test
    public void aMarkWithoutANoteEndsAllScopes() {
        RecordingContext.put(KEYS[2], "put");
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext closed = RecordingContext.where(A, "closed").build();
        RecordingContext inner = RecordingContext.where(B, "inner").build();
        Slab.markForeignClose(Slab.find(CurrentThread.key()));
        try (RecordingContext next = RecordingContext.where(B, "next").build()) {
            assertEquals("{key1=next, key2=put}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.ALL_ENDED));
        inner.close();
        closed.close();
        outer.close();
        assertEquals("{key2=put}", RecordingContext.describe());
        RecordingContext.remove(KEYS[2]);
    }

    /** 4 096 notes are kept; the scopes of whom they are about have all ended then. */
    @Test
    public void veryManyForeignClosesEndAllScopes() throws Exception {
        RecordingContext[] closed = new RecordingContext[5_000];
        RecordingContext around = RecordingContext.where(B, "around").build();
        Arrays.setAll(closed, i -> RecordingContext.where(A, "closed").build());
        inThread(() -> {
            for (RecordingContext each : closed) {
                each.close();
            }
        });
        try (RecordingContext next = RecordingContext.where(KEYS[2], "next").build()) {
            assertEquals("{key2=next}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.ALL_ENDED));
        around.close();
    }

    /** Serials go round after 2^31 scopes of a block. */
    @Test
    public void serialsGoRound() {
        RecordingContext early = RecordingContext.where(A, "early").build();
        long block = Slab.find(CurrentThread.key());
        Slab.putNext(block, -4);
        try (RecordingContext outer = RecordingContext.where(B, "outer").build();
                RecordingContext inner = RecordingContext.where(B, "inner").build();
                RecordingContext innermost =
                        RecordingContext.where(B, "innermost").build()) {
            inner.close();
            outer.close();
            early.close();
            assertEquals("{key1=innermost}", RecordingContext.describe());
        }
        assertEquals("{}", RecordingContext.describe());
    }

    @Test
    public void repairReleasesTheBlockOfAVirtualThread() throws Exception {
        inVirtualThread(() -> {
            RecordingContext mine = RecordingContext.where(A, "a").build();
            inThread(mine::close);
            mine.close();
            assertEquals("repaired by a close", Slab.NONE, Slab.find(CurrentThread.key()));
        });
        inVirtualThread(() -> {
            RecordingContext mine = RecordingContext.where(A, "a").build();
            inThread(mine::close);
            RecordingContext.snapshot();
            assertEquals("repaired by a snapshot", Slab.NONE, Slab.find(CurrentThread.key()));
        });
    }

    @Test
    public void foreignClosesOfEndedOwnersAreDropped() throws Exception {
        for (int i = 0; i < 1_100; i++) {
            RecordingContext[] leaked = new RecordingContext[1];
            CountDownLatch closed = new CountDownLatch(1);
            CountDownLatch open = new CountDownLatch(1);
            Thread owner = new Thread(() -> {
                leaked[0] = RecordingContext.where(A, "leaked").build();
                open.countDown();
                await(closed);
            });
            owner.start();
            await(open);
            leaked[0].close();
            closed.countDown();
            owner.join();
        }
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext inner = RecordingContext.where(A, "inner").build();
        inThread(inner::close);
        try (RecordingContext next = RecordingContext.where(B, "next").build()) {
            assertEquals("{key0=outer, key1=next}", RecordingContext.describe());
        }
        outer.close();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    public void activationsFollowTheSameRules() throws Exception {
        RecordingContext.Snapshot snapshot;
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            snapshot = RecordingContext.snapshot();
        }
        RecordingContext.Activation outer = snapshot.activate();
        RecordingContext.Activation inner = snapshot.activate();
        outer.close();
        assertEquals("{key0=a}", RecordingContext.describe());
        inner.close();
        inner.close();
        assertEquals("{}", RecordingContext.describe());
        RecordingContext.Activation foreign = snapshot.activate();
        inThread(foreign::close);
        RecordingContext.where(B, "b").build().close();
        assertEquals(1, counted(Misuse.CLOSE_OUT_OF_ORDER));
        assertEquals(1, counted(Misuse.DOUBLE_CLOSE));
        assertEquals(1, counted(Misuse.CLOSE_ON_OTHER_THREAD));
    }
}
