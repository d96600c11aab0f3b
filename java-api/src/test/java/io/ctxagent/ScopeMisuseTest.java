package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.ForeignClose;
import io.ctxagent.internal.block.MisuseRecovery;
import io.ctxagent.internal.block.Slab;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** Scopes as they should not be used: repaired and counted, never thrown. */
public class ScopeMisuseTest extends ContextTestCase {
    private static final RecordingContext.Snapshot NOTHING = RecordingContext.snapshot();

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

    @Test
    public void outerCloseEndsInnerScopes() {
        RecordingContext outer = RecordingContext.where(A, "a").build();
        RecordingContext middle = RecordingContext.where(B, "b").build();
        RecordingContext inner = RecordingContext.where(A, "c").build();
        outer.close();
        assertEquals("{}", RecordingContext.describe());
        inner.close();
        middle.close();
        assertEquals(1, counted(Misuse.CLOSE_OUT_OF_ORDER));
        assertEquals(2, counted(Misuse.CLOSE_AFTER_OUTER));
    }

    @Test
    public void lateCloseOfEndedScopeSparesNewOne() {
        RecordingContext outer = RecordingContext.where(A, "old").build();
        RecordingContext inner = RecordingContext.where(B, "old").build();
        outer.close();
        try (RecordingContext fresh = RecordingContext.where(A, "new").build()) {
            inner.close();
            outer.close();
            assertEquals("{key0=new}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.CLOSE_AFTER_OUTER));
        assertEquals(1, counted(Misuse.DOUBLE_CLOSE));
    }

    /**
     * What ended is remembered for sixteen misuses of a thread; of an older one it must not be
     * believed that it is open.
     */
    @Test
    public void veryLateCloseNeverRestoresAContext() {
        List<RecordingContext> late = new ArrayList<>();
        for (int round = 0; round < 40; round++) {
            RecordingContext outer = RecordingContext.where(A, "old").build();
            late.add(RecordingContext.where(B, "old").build());
            outer.close();
        }
        for (RecordingContext inner : late) {
            try (RecordingContext fresh = RecordingContext.where(A, "new").build()) {
                inner.close();
                // The first one ends all scopes, and then all of these are known to have ended.
                assertEquals(inner == late.get(0) ? "{}"
                        : "{key0=new}", RecordingContext.describe());
            }
            assertEquals("{}", RecordingContext.describe());
            assertEquals(0, Slab.top(Slab.find(CurrentThread.key())));
        }
        try (RecordingContext outer = RecordingContext.where(A, "outer").build()) {
            RecordingContext middle = RecordingContext.where(A, "middle").build();
            RecordingContext inner = RecordingContext.where(B, "inner").build();
            middle.close();
            inner.close();
            assertEquals("new ones are known to be open", "{key0=outer}",
                    RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.ALL_ENDED));
    }

    /**
     * Misuse of 4 096 threads is remembered; of more, it is remembered by thread what was
     * forgotten.
     */
    @Test
    public void misuseOfManyThreadsIsKeptApart() throws Exception {
        RecordingContext finished = RecordingContext.where(A, "old").build();
        RecordingContext late = RecordingContext.where(B, "old").build();
        finished.close();
        for (int batch = 0; batch < 42; batch++) {
            Thread[] others = new Thread[100];
            Arrays.setAll(others, i -> new Thread(ScopeMisuseTest::closeOutOfOrder));
            for (Thread other : others) {
                other.start();
            }
            for (Thread other : others) {
                other.join();
            }
        }
        inThread(() -> {
            try (RecordingContext around = RecordingContext.where(A, "around").build()) {
                closeOutOfOrder();
                assertEquals("a thread of which nothing was forgotten", "{key0=around}",
                        RecordingContext.describe());
            }
        });
        try (RecordingContext around = RecordingContext.where(A, "around").build()) {
            closeOutOfOrder();
            assertEquals("opened after what was forgotten", "{key0=around}",
                    RecordingContext.describe());
            try (RecordingContext fresh = RecordingContext.where(A, "new").build()) {
                late.close();
                assertEquals("forgotten", "{}", RecordingContext.describe());
            }
        }
        assertEquals("{}", RecordingContext.describe());
    }

    private static void closeOutOfOrder() {
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext inner = RecordingContext.where(B, "inner").build();
        outer.close();
        inner.close();
    }

    @Test
    public void foreignCloseTakesEffectAtTheOwnersNextCall() throws Exception {
        RecordingContext mine = RecordingContext.where(A, "a").build();
        inThread(mine::close);
        long block = Slab.find(CurrentThread.key());
        assertTrue("samples carry no context until the repair", Slab.hasForeignClose(block));
        try (RecordingContext next = RecordingContext.where(B, "b").build()) {
            assertFalse(Slab.hasForeignClose(block));
            assertEquals("{key1=b}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.CLOSE_ON_OTHER_THREAD));
        assertEquals(0, counted(Misuse.CLOSE_OUT_OF_ORDER));
    }

    @Test
    public void foreignCloseOfOuterScopeEndsInnerOnes() throws Exception {
        RecordingContext outer = RecordingContext.where(A, "a").build();
        RecordingContext inner = RecordingContext.where(B, "b").build();
        inThread(inner::close);
        inThread(outer::close);
        RecordingContext.put(A, null);
        assertEquals("{}", RecordingContext.describe());
        inner.close();
        outer.close();
        assertEquals(2, counted(Misuse.CLOSE_ON_OTHER_THREAD));
        assertEquals(2, counted(Misuse.DOUBLE_CLOSE));
    }

    /**
     * In any order in which each adjoins one before: the innermost one is open, so the others are,
     * too, and what was there before the outermost is known.
     */
    @Test
    public void foreignClosesEndNestedScopesOnly() throws Exception {
        int[][] orders = {{1}, {1, 0}, {0, 1}, {2, 1, 0}, {0, 1, 2}, {1, 2, 0}, {1, 0, 2},
                {1, 0, 1}, {1, 0, 0}};
        for (int[] order : orders) {
            int count = Arrays.stream(order).max().getAsInt() + 1;
            try (RecordingContext around = RecordingContext.where(A, "around").build()) {
                List<RecordingContext> nested = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    nested.add(RecordingContext.where(A, "nested" + i).where(B, "b")
                            .where(RAW, "raw").build());
                }
                for (int closed : order) {
                    inThread(nested.get(closed)::close);
                }
                try (RecordingContext next = RecordingContext.where(KEYS[2], "next").build()) {
                    String left = order.length == 1 ? "{key0=nested0, key1=b, key2=next, key7=raw}"
                            : "{key0=around, key2=next}";
                    assertEquals(Arrays.toString(order), left, RecordingContext.describe());
                }
                nested.get(0).close();
                assertEquals(Arrays.toString(order), "{key0=around}", RecordingContext.describe());
            }
        }
        assertEquals(0, counted(Misuse.ALL_ENDED));
    }

    @Test
    public void foreignClosesRaceWithReads()
            throws Exception {
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
                    assertEquals("round " + round, "{key0=around, key1=next}",
                            RecordingContext.describe());
                }
            }
        }
    }

    /** The owner may close some of them itself before it finds the note. */
    @Test
    public void foreignCloseEndsRemainingNestedScopes() throws Exception {
        for (int left = 0; left <= 3; left++) {
            try (RecordingContext around = RecordingContext.where(A, "around").build()) {
                List<ForeignClose> notes = new ArrayList<>();
                List<RecordingContext> nested = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    int outer = i == 0 ? around.serial : nested.get(i - 1).serial;
                    nested.add(RecordingContext.where(A, "nested" + i).build());
                    notes.add(note(nested.get(i).serial, outer, i == 0 ? "around"
                            : "nested" + (i - 1)));
                }
                for (int i = 2; i >= left; i--) {
                    nested.get(i).close();
                }
                inThread(() -> {
                    MisuseRecovery.closeByOwner(notes.get(2));
                    MisuseRecovery.closeByOwner(notes.get(1));
                    MisuseRecovery.closeByOwner(notes.get(0));
                });
                try (RecordingContext next = RecordingContext.where(B, "next").build()) {
                    assertEquals(left + " left", "{key0=around, key1=next}",
                            RecordingContext.describe());
                }
            }
        }
    }

    /** Another thread's note of a scope of the current one, in which A had {@code before}. */
    private static ForeignClose note(int serial, int outer, String before) {
        long owner = CurrentThread.key();
        long[] ids = new long[4];
        try (RecordingContext.Activation none = NOTHING.activate(); RecordingContext c =
                RecordingContext.where(A, before).build()) {
            for (int pair = 0; pair < ids.length; pair++) {
                ids[pair] = Slab.ids(c.block, pair);
            }
        }
        return new ForeignClose(owner, Slab.find(owner), serial, outer, 0, ids[0], ids[1], ids[2],
                ids[3]);
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
    public void foreignCloseOfEndedScopeSparesNewOne() throws Exception {
        RecordingContext outer = RecordingContext.where(A, "old").build();
        RecordingContext inner = RecordingContext.where(B, "old").build();
        outer.close();
        try (RecordingContext fresh = RecordingContext.where(A, "new").build()) {
            inThread(inner::close);
            try (RecordingContext next = RecordingContext.where(B, "b").build()) {
                assertEquals("{key0=new, key1=b}", RecordingContext.describe());
            }
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
            long block = Slab.find(CurrentThread.key());
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
                    // While it is not certain whether raced is open nothing is shown; the close of
                    // next, which it would lie around, tells.
                    assertTrue(A.isBound() || Slab.hasForeignClose(block));
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

    /**
     * The other thread looks before the owner closes the scope, and leaves its note after the owner
     * opened another one.
     */
    @Test
    public void foreignCloseAfterTheOwnersRestoresNothing() throws Exception {
        ForeignClose note = noteOfAScopeThatWasClosed();
        try (RecordingContext fresh = RecordingContext.where(B, "new").build()) {
            inThread(() -> MisuseRecovery.closeByOwner(note));
            RecordingContext.where(KEYS[2], "next").build().close();
            assertFalse("the finished request's", A.isBound());
        }
        assertEquals("{}", RecordingContext.describe());
        try (RecordingContext around = RecordingContext.where(A, "around").build()) {
            ForeignClose another = noteOfAScopeThatWasClosed();
            RecordingContext fresh = RecordingContext.where(B, "new").build();
            inThread(() -> MisuseRecovery.closeByOwner(another));
            assertEquals("not certain", "{}", RecordingContext.describe());
            assertFalse("not certain", B.isBound());
            fresh.close();
            assertEquals("known to be closed, as it would lie between these two", "{key0=around}",
                    RecordingContext.describe());
        }
    }

    private static ForeignClose noteOfAScopeThatWasClosed() {
        long owner = CurrentThread.key();
        RecordingContext outer = RecordingContext.where(A, "finished").build();
        long block = Slab.find(owner);
        long[] ids = {Slab.ids(block, 0), Slab.ids(block, 1), Slab.ids(block, 2),
                Slab.ids(block, 3)};
        RecordingContext raced = RecordingContext.where(A, "raced").build();
        raced.close();
        outer.close();
        return new ForeignClose(owner, block, raced.serial, outer.serial, 0, ids[0], ids[1],
                ids[2], ids[3]);
    }

    /** Its {@code closed} may not be visible yet to the owner that closes it, too. */
    @Test
    public void aScopeThatWasRepairedHasEnded() throws Exception {
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext raced = RecordingContext.where(A, "raced").build();
        long block = Slab.find(CurrentThread.key());
        long[] ids = {Slab.ids(block, 0), Slab.ids(block, 1), Slab.ids(block, 2),
                Slab.ids(block, 3)};
        ForeignClose note = new ForeignClose(CurrentThread.key(), block, raced.serial,
                outer.serial, 0, ids[0], ids[1], ids[2], ids[3]);
        inThread(() -> MisuseRecovery.closeByOwner(note));
        try (RecordingContext next = RecordingContext.where(B, "next").build()) {
            raced.close();
            assertTrue("still open", B.isBound());
        }
        outer.close();
        assertEquals(1, counted(Misuse.CLOSE_AFTER_OUTER));
    }

    /** Another copy of the API, in another loader, has the note. */
    @Test
    public void aMarkWithoutANoteEndsAllScopes() {
        RecordingContext outer = RecordingContext.where(A, "outer").build();
        RecordingContext closed = RecordingContext.where(A, "closed").build();
        RecordingContext inner = RecordingContext.where(B, "inner").build();
        Slab.markForeignClose(Slab.find(CurrentThread.key()));
        try (RecordingContext next = RecordingContext.where(B, "next").build()) {
            assertEquals("{key1=next}", RecordingContext.describe());
        }
        assertEquals(1, counted(Misuse.ALL_ENDED));
        inner.close();
        assertEquals("{}", RecordingContext.describe());
        closed.close();
        outer.close();
    }

    /** Half of all serials later those of new scopes look like ones from before. */
    @Test
    public void endedSerialsDoNotMatchMuchLaterScopes() {
        RecordingContext closed = RecordingContext.where(A, "closed").build();
        Slab.markForeignClose(Slab.find(CurrentThread.key()));
        try (RecordingContext next = RecordingContext.where(B, "next").build()) {
            assertEquals(1, counted(Misuse.ALL_ENDED));
            long block = Slab.find(CurrentThread.key());
            Slab.putNext(block, Slab.nextSerial(block) + (1 << 31));
            RecordingContext outer = RecordingContext.where(A, "outer").build();
            RecordingContext inner = RecordingContext.where(B, "inner").build();
            outer.close();
            inner.close();
            assertEquals("{key1=next}", RecordingContext.describe());
        }
        closed.close();
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
        inner.close();
        inner.close();
        assertEquals("{}", RecordingContext.describe());
        RecordingContext.Activation foreign = snapshot.activate();
        inThread(foreign::close);
        RecordingContext.where(B, "b").build().close();
        assertEquals(1, counted(Misuse.CLOSE_OUT_OF_ORDER));
        assertEquals(1, counted(Misuse.CLOSE_AFTER_OUTER));
        assertEquals(1, counted(Misuse.DOUBLE_CLOSE));
        assertEquals(1, counted(Misuse.CLOSE_ON_OTHER_THREAD));
    }
}
