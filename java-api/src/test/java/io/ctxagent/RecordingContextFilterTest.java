package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.Slab;
import org.junit.After;
import org.junit.Test;

/** The mask that the installed context leaves in the block. */
public class RecordingContextFilterTest extends ContextTestCase {
    private static final int EXECUTION = 1;
    private static final int WALL = 1 << 1;
    private static final int OTHER = 1 << 31;

    @After
    public void recordAllAgain() {
        RecordingContextFilter.Config.setContextFilter(null);
        RecordingContext.where(A, "a").build().close();
        assertEquals(Slab.ALL_EVENTS, mask());
        assertNull(RecordingContextFilter.Config.contextFilter());
    }

    private static int mask() {
        return Slab.eventMask(CurrentBlock.forWriting(CurrentThread.key()));
    }

    private static boolean recorded(int type) {
        return (mask() & type) != 0;
    }

    private static RecordingContextFilter.Builder filter() {
        return RecordingContextFilter.Config.createFilter();
    }

    private static void set(RecordingContextFilter.Builder b) {
        RecordingContextFilter f = b.build();
        RecordingContextFilter.Config.setContextFilter(f);
        assertSame(f, RecordingContextFilter.Config.contextFilter());
    }

    @Test
    public void hasContextFollowsTheScopes() {
        set(filter().forAllTypes(t -> t.hasContext()));
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            assertEquals(Slab.ALL_EVENTS, mask());
            try (RecordingContext inner = RecordingContext.where(A, null).build()) {
                assertFalse(recorded(EXECUTION));
                assertFalse(recorded(OTHER));
            }
            assertTrue(recorded(EXECUTION));
        }
        assertFalse(recorded(EXECUTION));
    }

    @Test
    public void hasNoContextIsItsOpposite() {
        set(filter().forAllTypes(t -> t.hasNoContext()));
        RecordingContext.where(A, "a").run(() -> assertFalse(recorded(EXECUTION)));
        assertTrue(recorded(EXECUTION));
    }

    @Test
    public void hasKeyAndHasEntryTestTheAttribute() {
        set(filter().forType("jdk.ExecutionSample", t -> t.hasEntry(A, "yes"))
                .forType("profiler.WallClockSample", t -> t.hasKey(B)));
        RecordingContext.where(A, "yes").run(() -> {
            assertTrue(recorded(EXECUTION));
            assertFalse(recorded(WALL));
            assertTrue(recorded(OTHER));
        });
        RecordingContext.where(A, new String("no")).where(B, "b").run(() -> {
            assertFalse(recorded(EXECUTION));
            assertTrue(recorded(WALL));
            RecordingContext.put(A, "yes");
            assertTrue("put too", recorded(EXECUTION));
            RecordingContext.remove(A);
        });
    }

    @Test
    public void rawValuesCanBeAskedFor() {
        set(filter().forAllTypes(t -> t.hasEntry(RAW, "id-1")));
        RecordingContext.where(RAW, "id-1").run(() -> assertTrue(recorded(EXECUTION)));
        RecordingContext.where(RAW, "id-2").run(() -> assertFalse(recorded(EXECUTION)));
        RecordingContext.where(RAW, "id-11").run(() -> assertFalse(recorded(EXECUTION)));
        // Two digits in a byte.
        set(filter().forAllTypes(t -> t.hasEntry(RAW, "00f067aa0ba902b7")));
        RecordingContext.where(RAW, "00f067aa0ba902b7").run(() -> assertTrue(recorded(EXECUTION)));
        RecordingContext.where(RAW, "00f067aa0ba902b8").run(() -> assertFalse(recorded(EXECUTION)));
        RecordingContext.where(RAW, "00f067aa0ba902bX").run(() -> assertFalse(recorded(EXECUTION)));
    }

    @Test
    public void filterMatchesRawValuesThatAreCutOrRepaired() {
        String longOne = "x".repeat(BlockLayout.RAW_LENGTH - 1) + "\u20acuro";
        set(filter().forAllTypes(t -> t.hasEntry(RAW, longOne)));
        RecordingContext.where(RAW, longOne).run(() -> assertTrue(recorded(EXECUTION)));
        RecordingContext.where(RAW, "x").run(() -> assertFalse(recorded(EXECUTION)));
        set(filter().forAllTypes(t -> t.hasEntry(RAW, "a\ud800b")));
        RecordingContext.where(RAW, "a\ud800b").run(() -> assertTrue(recorded(EXECUTION)));
        RecordingContext.where(RAW, "a?b").run(() -> assertFalse(recorded(EXECUTION)));
    }

    @Test
    public void conditionsAddUpAndResetDropsThem() {
        set(filter().forAllTypes(t -> t.hasKey(A))
                .forType("jdk.ExecutionSample", t -> t.hasKey(B))
                .forType("profiler.WallClockSample", t -> t.reset().hasKey(B)));
        RecordingContext.where(B, "b").run(() -> {
            assertFalse(recorded(EXECUTION));
            assertTrue(recorded(WALL));
        });
        RecordingContext.where(A, "a")
                .where(B, "b")
                .run(() -> assertEquals(Slab.ALL_EVENTS, mask()));
    }

    @Test
    public void forAllTypesReachesNamedTypes() {
        set(filter().forType("jdk.ExecutionSample", t -> t.hasKey(A))
                .forAllTypes(t -> t.hasKey(B)));
        RecordingContext.where(A, "a").run(() -> assertFalse(recorded(EXECUTION)));
    }

    @Test
    public void eventTypesOfTheJdkAreAccepted() {
        jdk.jfr.EventType type = jdk.jfr.FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .filter(t -> t.getName().equals("jdk.ExecutionSample"))
                .findFirst()
                .get();
        set(filter().forType(type, t -> t.hasKey(B)));
        RecordingContext.where(A, "a").run(() -> {
            assertFalse(recorded(EXECUTION));
            assertTrue(recorded(WALL));
        });
    }

    @Test
    public void unreachableEventTypesAreRefused() {
        String[][] refused = {
            {"jdk.GCPhasePause", "a pause has no context"},
            {"jdk.NativeMethodSample", "jdk.ExecutionSample"},
            {"jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationSample"},
            {"jdk.ThreadPark", "does not write it"},
            {"com.example.Order", "does not write it"},
            {"", "allowed: jdk.ExecutionSample"}
        };
        for (String[] one : refused) {
            RecordingContextFilter.Builder builder = filter().forAllTypes(t -> t.hasKey(A));
            IllegalArgumentException thrown = assertThrows(
                    IllegalArgumentException.class,
                    () -> builder.forType(one[0], t -> t.hasKey(B)));
            assertTrue(
                    thrown.getMessage(),
                    thrown.getMessage().contains("'" + one[0] + "'")
                            && thrown.getMessage().contains(one[1]));
            assertEquals(
                    "the builder is as it was",
                    1,
                    builder.build().conditionsOf(one[0]).size());
        }
    }

    @Test
    public void snapshotFollowsFilterChanges() throws Exception {
        RecordingContext.Snapshot snapshot =
                RecordingContext.where(A, "a").call(RecordingContext::snapshot);
        set(filter().forAllTypes(t -> t.hasKey(B)));
        RecordingContext.runWithSnapshot(() -> assertFalse(recorded(EXECUTION)), snapshot);
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            set(filter().forAllTypes(t -> t.hasKey(A)));
            RecordingContext.where(A, "b").run(() -> assertTrue(recorded(EXECUTION)));
            assertTrue("put back under the new filter", recorded(EXECUTION));
        }
    }

    @Test
    public void filterReachesThreadsWithoutBlock() {
        assertEquals(Slab.ALL_EVENTS, RecordingContextFilter.maskWithoutContext(null));
        int known = 0xf | OTHER;
        assertEquals(
                0,
                known
                        & RecordingContextFilter.maskWithoutContext(
                                filter().forAllTypes(t -> t.hasContext()).build()));
        assertEquals(
                Slab.ALL_EVENTS,
                RecordingContextFilter.maskWithoutContext(
                        filter().forAllTypes(t -> t.hasNoContext()).build()));
        assertEquals(
                ~EXECUTION,
                RecordingContextFilter.maskWithoutContext(
                        filter().forType("jdk.ExecutionSample", t -> t.hasKey(A))
                                .build()));
        assertEquals(
                OTHER,
                RecordingContextFilter.maskWithoutContext(
                                filter().forAllTypes(t -> t.hasNoContext())
                                        .forType("jdk.ExecutionSample", t -> t.hasEntry(A, "a"))
                                        .build())
                        & (OTHER | EXECUTION));
    }

    @Test
    public void throwingCallbackLeavesTheFilterInForce() {
        set(filter().forAllTypes(t -> t.hasKey(A)));
        RecordingContextFilter before = RecordingContextFilter.Config.contextFilter();
        IllegalStateException thrown = new IllegalStateException("on purpose");
        assertSame(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> set(filter().forAllTypes(t -> {
                            throw thrown;
                        }))));
        assertSame(before, RecordingContextFilter.Config.contextFilter());
        assertThrows(NullPointerException.class, () -> filter().forAllTypes(t -> t.hasKey(null)));
        assertThrows(
                NullPointerException.class, () -> filter().forAllTypes(t -> t.hasEntry(A, null)));
        assertThrows(NullPointerException.class, () -> filter().forType((String) null, t -> {}));
    }
}
