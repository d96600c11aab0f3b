package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.Test;

public class TimedTest extends ObserverTestCase {
    private static String failureOf(Entry entry) {
        return ((FunctionDetail) entry.detail()).failure();
    }

    @Test
    public void eachKindOfFunctionIsTimed() throws Exception {
        ContextObserver observer = observer();
        Function<String, Integer> function = Timed.function("function", String::length);
        assertEquals(3, (int) function.apply("abc"));
        observer.observe(EntryType.FUNCTION);
        Timed.runnable("runnable", () -> {}).run();
        assertEquals("r", Timed.callable("callable", () -> "r").call());
        assertEquals("r", Timed.supplier("supplier", () -> "r").get());
        assertEquals(3, (int) function.apply("abc"));
        List<Entry> entries = observer.takeRecords();
        assertEquals(4, entries.size());
        for (Entry entry : entries) {
            assertEquals(EntryType.FUNCTION, entry.type());
            assertNull(failureOf(entry));
            assertTrue(entry.duration().toNanos() >= 0);
        }
        assertEquals("function", entries.get(3).name());
    }

    @Test
    public void failuresArePassedOnAndTold() {
        ContextObserver observer = observer();
        observer.observe(EntryType.FUNCTION);
        IOException failure = new IOException();
        Callable<String> fails = Timed.callable("fails", () -> {
            throw failure;
        });
        assertSame(failure, assertThrows(IOException.class, fails::call));
        Supplier<CompletionStage<String>> atOnce = Timed.stage("at once", () -> {
            throw new IllegalStateException();
        });
        assertThrows(IllegalStateException.class, atOnce::get);
        List<Entry> entries = observer.takeRecords();
        assertEquals("java.io.IOException", failureOf(entries.get(0)));
        assertEquals("java.lang.IllegalStateException", failureOf(entries.get(1)));
    }

    @Test
    public void stageIsTimedUntilItEnds() {
        ContextObserver observer = observer();
        observer.observe(EntryType.FUNCTION);
        CompletableFuture<String> work = new CompletableFuture<>();
        assertSame(work, Timed.stage("work", () -> work).get());
        assertEquals("not ended", List.of(), observer.takeRecords());
        long ended = System.nanoTime();
        work.completeExceptionally(new IOException());
        Entry entry = observer.takeRecords().get(0);
        assertEquals("java.io.IOException", failureOf(entry));
        assertTrue(entry.startNanos() + entry.duration().toNanos() >= ended);
        CompletableFuture<String> well = new CompletableFuture<>();
        CompletionStage<String> dependent =
                Timed.stage("well", () -> well.thenApply(a -> a)).get();
        well.complete("r");
        assertEquals("r", dependent.toCompletableFuture().join());
        assertNull(failureOf(observer.takeRecords().get(0)));
        assertNull(Timed.stage("none", () -> null).get());
    }

    @Test
    public void nullIsRefused() {
        assertThrows(NullPointerException.class, () -> Timed.runnable("name", null));
        assertThrows(NullPointerException.class, () -> Timed.runnable(null, () -> {}));
        assertThrows(NullPointerException.class, () -> Timed.supplier("name", null));
    }
}
