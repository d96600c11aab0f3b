package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.Misuse;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.Test;

/** ContextSupport that are carried to other threads. */
public class SnapshotTest extends ContextTestCase {
    private static RecordingContext.Snapshot snapshotOf(RecordingContext.Builder b)
            throws Exception {
        return b.call(RecordingContext::snapshot);
    }

    @Test
    public void activationReplacesAndRestores() throws Exception {
        RecordingContext.Snapshot s = snapshotOf(RecordingContext.where(A, "a"));
        try (RecordingContext c =
                RecordingContext.where(A, "before").where(B, "b").build()) {
            try (RecordingContext.Activation activation = s.activate()) {
                assertEquals("{key0=a, key1=b}", RecordingContext.describe());
            }
            assertEquals("{key0=before, key1=b}", RecordingContext.describe());
            try (RecordingContext.Activation activation = s.activateExactly()) {
                assertEquals("{key0=a}", RecordingContext.describe());
            }
            assertEquals("{key0=before, key1=b}", RecordingContext.describe());
        }
    }

    @Test
    public void emptySnapshotInstallsAnEmptyContextOnRequest() {
        RecordingContext.Snapshot empty = RecordingContext.snapshot();
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            RecordingContext.runWithSnapshot(
                    () -> assertEquals("{key0=a}", RecordingContext.describe()), empty);
            try (RecordingContext.Activation activation = empty.activateExactly()) {
                assertEquals("{}", RecordingContext.describe());
            }
        }
    }

    /** A task of one request that runs on a thread at work for another one. */
    @Test
    public void wrappedTasksCarryExactlyTheirContext() throws Exception {
        Callable<String> none =
                RecordingContext.wrap((Callable<String>) RecordingContext::describe);
        try (RecordingContext c =
                RecordingContext.where(A, "helper").where(RAW, "h").build()) {
            assertEquals("{}", none.call());
            assertEquals("{key0=helper, key7=h}", RecordingContext.describe());
        }
    }

    /** Same bytes at the same place, of a scope that ends before the activation. */
    @Test
    public void activationKeepsItsRawValueWhateverElseEnds() throws Exception {
        RecordingContextKey other = new RecordingContextKey.RawKey("key6");
        try {
            RecordingContext.Snapshot s = snapshotOf(RecordingContext.where(RAW, "same"));
            RecordingContext around = RecordingContext.where(other, "same").build();
            RecordingContext.Activation activation = s.activate();
            around.close();
            try (RecordingContext next = RecordingContext.where(other, "else").build()) {
                assertEquals("{key6=else, key7=same}", RecordingContext.describe());
            }
            activation.close();
        } finally {
            RecordingContextKey.reserve(KEYS[6]);
        }
    }

    @Test
    public void rawValuesTravelInSnapshots() throws Exception {
        RecordingContext.Snapshot s =
                snapshotOf(RecordingContext.where(A, "a").where(RAW, "id-4711"));
        inThread(() -> {
            try (RecordingContext c =
                    RecordingContext.where(RAW, "something else").build()) {
                assertEquals(
                        "{key0=a, key7=id-4711}",
                        RecordingContext.callWithSnapshot(RecordingContext::describe, s));
                assertEquals("{key7=something else}", RecordingContext.describe());
            }
        });
        try (RecordingContext c = RecordingContext.where(RAW, "x".repeat(60)).build()) {
            assertEquals(
                    "{key0=a, key7=(other)}",
                    RecordingContext.callWithSnapshot(RecordingContext::describe, s));
        }
        assertEquals(1, counted(Misuse.RAW_AREA_FULL));
    }

    /** A wrapped task that runs at once, in the scope where it was wrapped. */
    @Test
    public void presentRawValueIsNotCopied() throws Exception {
        String uuid = "123e4567-e89b-12d3-a456-426614174000";
        try (RecordingContext c =
                RecordingContext.where(A, "a").where(RAW, uuid).build()) {
            Callable<String> task = RecordingContext.wrap((Callable<String>) () -> {
                try (RecordingContext inner =
                        RecordingContext.where(RAW, "another").build()) {
                    return RecordingContext.describe()
                            + RecordingContext.wrap((Callable<String>) RecordingContext::describe)
                                    .call();
                }
            });
            assertEquals("{key0=a, key7=another}{key0=a, key7=another}", task.call());
            assertEquals(
                    "{key0=a, key7=" + uuid + "}",
                    RecordingContext.wrap((Callable<String>) RecordingContext::describe)
                            .call());
            RecordingContext.Snapshot s = RecordingContext.snapshot();
            inThread(() -> {
                try (RecordingContext other = RecordingContext.where(
                                RAW, "123e4567-e89b-12d3-a456-426614174999")
                        .build()) {
                    assertEquals(
                            "other bytes",
                            "{key0=a, key7=(other)}",
                            RecordingContext.callWithSnapshot(RecordingContext::describe, s));
                }
                assertEquals(
                        "{key0=a, key7=" + uuid + "}",
                        RecordingContext.callWithSnapshot(RecordingContext::describe, s));
            });
        }
        assertEquals(1, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void snapshotIsActiveInManyThreads() throws Exception {
        RecordingContext.Snapshot s =
                snapshotOf(RecordingContext.where(A, "shared").where(RAW, "id"));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Boolean>> tasks = java.util.Collections.nCopies(200, () -> {
                try (RecordingContext.Activation a = s.activate()) {
                    return RecordingContext.describe().equals("{key0=shared, key7=id}");
                }
            });
            for (java.util.concurrent.Future<Boolean> result : pool.invokeAll(tasks)) {
                assertTrue(result.get());
            }
        } finally {
            pool.shutdown();
        }
    }

    @Test
    public void wrappedTasksCarryTheContext() throws Exception {
        Runnable task;
        Callable<String> call;
        Supplier<String> supplier;
        String[] seen = new String[1];
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            task = RecordingContext.wrap((Runnable) () -> seen[0] = RecordingContext.describe());
            call = RecordingContext.wrap((Callable<String>) RecordingContext::describe);
            supplier = RecordingContext.wrap((Supplier<String>) RecordingContext::describe);
        }
        inThread(task::run);
        assertEquals("{key0=a}", seen[0]);
        assertEquals("{key0=a}", call.call());
        assertEquals("{key0=a}", supplier.get());
    }

    @Test
    public void wrappedExecutorsCarryTheSubmittersContext() throws Exception {
        ExecutorService raw = Executors.newFixedThreadPool(1);
        ExecutorService pool = RecordingContext.wrap(raw);
        try {
            assertEquals("{}", pool.submit(RecordingContext::describe).get());
            try (RecordingContext c = RecordingContext.where(A, "first").build()) {
                assertEquals(
                        "{key0=first}", pool.submit(RecordingContext::describe).get());
                assertEquals("{key0=first}", pool.invokeAny(List.of(RecordingContext::describe)));
                assertEquals(
                        "{key0=first}",
                        pool.invokeAll(List.<Callable<String>>of(RecordingContext::describe))
                                .get(0)
                                .get());
                Executor executor = RecordingContext.wrap((Executor) raw);
                java.util.concurrent.CompletableFuture<String> future =
                        new java.util.concurrent.CompletableFuture<>();
                executor.execute(() -> future.complete(RecordingContext.describe()));
                assertEquals("{key0=first}", future.get(10, TimeUnit.SECONDS));
            }
            assertEquals("{}", raw.submit(RecordingContext::describe).get());
        } finally {
            pool.shutdown();
            assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS));
            assertTrue(raw.isTerminated());
        }
    }

    @Test
    public void aSnapshotOutlivesItsThread() throws Exception {
        RecordingContext.Snapshot[] taken = new RecordingContext.Snapshot[1];
        inThread(() -> taken[0] = snapshotOf(RecordingContext.where(A, "a")));
        assertFalse(A.isBound());
        assertEquals(
                "{key0=a}",
                RecordingContext.callWithSnapshot(RecordingContext::describe, taken[0]));
    }
}
