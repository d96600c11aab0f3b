package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.ctxagent.internal.agent.Rethrow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.Test;

/** Work that ends on other threads. */
public class AsyncTest extends ContextTestCase {
    private static String get(CompletionStage<String> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    public void everySubmitCarriesTheContext() throws Exception {
        ExecutorService raw = Executors.newSingleThreadExecutor();
        ExecutorService pool = RecordingContext.wrap(raw);
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Runnable task = () -> seen.add(RecordingContext.describe());
        Callable<String> call = RecordingContext::describe;
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            pool.execute(task);
            assertEquals("{key0=a}", seen.poll(60, TimeUnit.SECONDS));
            pool.submit(task).get();
            assertEquals("result", pool.submit(task, "result").get());
            assertEquals("{key0=a}", seen.poll());
            assertEquals("{key0=a}", seen.poll());
            assertEquals("{key0=a}", pool.submit(call).get());
            assertEquals("{key0=a}", pool.invokeAny(List.of(call)));
            assertEquals("{key0=a}", pool.invokeAny(List.of(call), 60, TimeUnit.SECONDS));
            for (Future<String> f : pool.invokeAll(List.of(call, call), 60, TimeUnit.SECONDS)) {
                assertEquals("{key0=a}", f.get());
            }
            assertEquals("{key0=a}", pool.invokeAll(List.of(call)).get(0).get());
        } finally {
            assertEquals("the pool's thread stays clean", "{}", raw.submit(call).get());
            assertTrue(pool.shutdownNow().isEmpty());
            assertTrue(pool.isShutdown()
                    && pool.awaitTermination(60, TimeUnit.SECONDS)
                    && pool.isTerminated());
        }
    }

    @Test
    public void scheduledTasksCarryTheContext() throws Exception {
        ScheduledExecutorService raw = Executors.newSingleThreadScheduledExecutor();
        ScheduledExecutorService pool = RecordingContext.wrap(raw);
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Runnable task = () -> seen.add(RecordingContext.describe());
        try {
            Future<?> rate;
            Future<?> delay;
            try (RecordingContext c = RecordingContext.where(A, "a").build()) {
                pool.schedule(task, 0, TimeUnit.NANOSECONDS).get(60, TimeUnit.SECONDS);
                assertEquals("{key0=a}", seen.poll());
                assertEquals(
                        "{key0=a}",
                        pool.schedule(
                                        (Callable<String>) RecordingContext::describe,
                                        0,
                                        TimeUnit.NANOSECONDS)
                                .get());
                rate = pool.scheduleAtFixedRate(task, 0, 1, TimeUnit.MILLISECONDS);
                delay = pool.scheduleWithFixedDelay(task, 0, 1, TimeUnit.MILLISECONDS);
            }
            for (int i = 0; i < 6; i++) {
                assertEquals("{key0=a}", seen.poll(60, TimeUnit.SECONDS));
            }
            rate.cancel(false);
            delay.cancel(false);
            assertEquals("{}", raw.submit(RecordingContext::describe).get());
        } finally {
            pool.shutdownNow();
        }
    }

    /** As on JDKs from 19 on, where an executor service can be closed. */
    @Test
    public void closeReachesTheWrappedExecutor() throws Exception {
        assumeTrue("an executor service can be closed", Runtime.version().feature() >= 19);
        Closing closing = new Closing();
        ((AutoCloseable) RecordingContext.wrap((ExecutorService) closing)).close();
        assertEquals(List.of("close"), closing.called);
        // This pool never ends, and its own way to close it knows that.
        inThread(() -> ((AutoCloseable)
                        RecordingContext.wrap((ExecutorService) ForkJoinPool.commonPool()))
                .close());
        ExecutorService pool = Executors.newSingleThreadExecutor();
        ((AutoCloseable) RecordingContext.wrap(pool)).close();
        assertTrue(pool.isTerminated());
        IOException thrown = new IOException("on purpose");
        closing.failure = thrown;
        assertSame(
                thrown,
                assertThrows(
                        IOException.class,
                        () -> ((AutoCloseable) RecordingContext.wrap((ExecutorService) closing))
                                .close()));
    }

    /** Its own way to be closed. */
    private static final class Closing extends AbstractExecutorService implements AutoCloseable {
        private final List<String> called = new ArrayList<>();
        private Exception failure;

        @Override
        public void close() {
            called.add("close");
            if (failure != null) {
                throw Rethrow.unchecked(failure);
            }
        }

        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {
            called.add("shutdown");
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return true;
        }

        @Override
        public boolean isTerminated() {
            return true;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            called.add("awaitTermination");
            return true;
        }
    }

    /** The queue compares the tasks themselves. */
    @Test
    public void wrappedTasksStayComparable() throws Exception {
        ThreadPoolExecutor raw =
                new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new PriorityBlockingQueue<>());
        ExecutorService pool = RecordingContext.wrap((ExecutorService) raw);
        List<String> ran = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch rest = new CountDownLatch(1);
        CountDownLatch again = new CountDownLatch(1);
        Runnable first = new Ranked(0, () -> awaitAfter(begun, rest));
        Runnable last = new Ranked(9, () -> awaitAfter(again, new CountDownLatch(1)));
        Runnable never = new Ranked(11, () -> ran.add("never"));
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            pool.execute(first);
            assertTrue(begun.await(60, TimeUnit.SECONDS));
            for (int rank : new int[] {3, 1, 4, 2}) {
                pool.execute(new Ranked(rank, () -> ran.add(rank + RecordingContext.describe())));
            }
            pool.execute(RecordingContext.wrap(
                    (Runnable) new Ranked(5, () -> ran.add("5 twice wrapped"))));
            pool.execute(last);
            pool.execute(never);
            rest.countDown();
            assertTrue(again.await(60, TimeUnit.SECONDS));
            assertEquals(
                    List.of("1{key0=a}", "2{key0=a}", "3{key0=a}", "4{key0=a}", "5 twice wrapped"),
                    ran);
            assertEquals(List.of(never), pool.shutdownNow());
        }
        @SuppressWarnings("unchecked")
        Comparable<Object> comparable =
                (Comparable<Object>) RecordingContext.wrap((Callable<String>) new RankedCall(1));
        assertEquals(-1, comparable.compareTo(RecordingContext.wrap((Callable<String>)
                new RankedCall(2))));
        assertFalse(
                "only what can be compared",
                RecordingContext.wrap((Runnable) () -> {}) instanceof Comparable);
    }

    private static void awaitAfter(CountDownLatch begun, CountDownLatch end) {
        begun.countDown();
        try {
            end.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Ranked implements Runnable, Comparable<Ranked> {
        private final int rank;
        private final Runnable task;

        Ranked(int rank, Runnable task) {
            this.rank = rank;
            this.task = task;
        }

        @Override
        public void run() {
            task.run();
        }

        @Override
        public int compareTo(Ranked other) {
            return Integer.compare(rank, other.rank);
        }
    }

    private static final class RankedCall implements Callable<String>, Comparable<RankedCall> {
        private final int rank;

        RankedCall(int rank) {
            this.rank = rank;
        }

        @Override
        public String call() {
            return RecordingContext.describe();
        }

        @Override
        public int compareTo(RankedCall other) {
            return Integer.compare(rank, other.rank);
        }
    }

    @Test
    public void stageFunctionsRunWithTheContext() throws Exception {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletionStage<String> stage;
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            stage = RecordingContext.wrap((CompletionStage<String>) source);
        }
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        CompletionStage<String> last = stage.thenApply(v -> v + RecordingContext.describe())
                .thenCombine(stage, (v, w) -> v + RecordingContext.describe())
                .whenComplete((v, t) -> seen.add(RecordingContext.describe()))
                .thenCompose(
                        v -> CompletableFuture.completedFuture(v + RecordingContext.describe()));
        CompletionStage<Void> ends = stage.thenAccept(v -> seen.add(RecordingContext.describe()))
                .thenRun(() -> seen.add(RecordingContext.describe()));
        inThread(() -> source.complete("done"));
        assertEquals("done{key0=a}{key0=a}{key0=a}", get(last));
        ends.toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertEquals(3, seen.size());
        assertTrue(seen.stream().allMatch("{key0=a}"::equals));
        assertFalse(A.isBound());
    }

    @Test
    public void asyncClosureEndsWithItsStage() throws Exception {
        CompletableFuture<String> source = new CompletableFuture<>();
        String[] within = new String[1];
        Supplier<CompletionStage<String>> task = () -> {
            within[0] = RecordingContext.describe();
            return source;
        };
        CompletionStage<String> stage = Labels.callAsync(task, "key0", "a", "key1", "b");
        assertEquals("{key0=a, key1=b}", within[0]);
        assertFalse("ended here", A.isBound());
        CompletionStage<String> next = stage.thenApplyAsync(v -> RecordingContext.describe());
        inThread(() -> source.complete("done"));
        assertEquals("{key0=a, key1=b}", get(next));
        assertTrue(stage.equals(stage) && !stage.equals(source));
        assertEquals(source.toString(), stage.toString());
    }

    @Test
    public void failuresPassThrough() throws Exception {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        assertEquals(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> RecordingContext.where(A, "a").callAsync(() -> {
                            throw thrown;
                        })));
        CompletionStage<String> stage = RecordingContext.where(A, "a")
                .callAsync(() -> CompletableFuture.failedFuture(thrown));
        assertEquals(
                "java.lang.IllegalStateException: on purpose {key0=a}",
                get(stage.exceptionally(t -> t + " " + RecordingContext.describe())));
        assertThrows(NullPointerException.class, () -> stage.thenApply(null));
        assertThrows(
                CompletionException.class, () -> stage.toCompletableFuture().join());
        assertThrows(
                NullPointerException.class, () -> RecordingContext.where(A, "a").callAsync(null));
        assertThrows(
                NullPointerException.class,
                () -> RecordingContext.wrap((CompletionStage<String>) null));
        assertFalse(A.isBound());
    }

    /** An executor that is a thread, as event loops are, and a future that is a task. */
    @Test
    public void parameterTypeDecidesHowAnArgumentIsWrapped() throws Exception {
        CompletionStage<String> stage = RecordingContext.where(A, "a")
                .callAsync(() -> CompletableFuture.completedFuture("done"));
        assertEquals(
                "{key0=a}",
                get(stage.thenApplyAsync(v -> RecordingContext.describe(), new Both())));
        assertEquals(
                "{key0=a}",
                get(stage.thenCombine(
                        new RunnableFuture(), (v, w) -> RecordingContext.describe())));
        assertEquals(
                "{key0=a}",
                get(stage.applyToEither(new RunnableFuture(), v -> RecordingContext.describe())));
        Function<Object, Object> odd = new OddFunction();
        assertEquals(
                "applied", stage.thenApply(odd).toCompletableFuture().get(60, TimeUnit.SECONDS));
        stage.thenRun((Runnable) odd).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertEquals("{key0=a}", ((OddFunction) odd).ran);
    }

    private static final class Both extends Thread implements Executor {
        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    private static final class RunnableFuture extends CompletableFuture<String>
            implements Runnable {
        RunnableFuture() {
            complete("other");
        }

        @Override
        public void run() {}
    }

    private static final class OddFunction implements Function<Object, Object>, Runnable {
        private volatile String ran;

        @Override
        public Object apply(Object value) {
            return "applied";
        }

        @Override
        public void run() {
            ran = RecordingContext.describe();
        }
    }

    @Test
    public void newThreadsStartWithoutAContext() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            inThread(() -> assertFalse(A.isBound()));
            CompletableFuture.runAsync(() -> {
                        if (!A.isBound()) {
                            done.countDown();
                        }
                    })
                    .get(60, TimeUnit.SECONDS);
        }
        assertEquals(0, done.getCount());
    }
}
