package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.Test;

/** How a context gets to where the work is: pools, event loops, the context of another library. */
public class PropagationTest extends ContextTestCase {
    private static final AtomicReference<Thread> CALLER = new AtomicReference<>();

    /**
     * Runs the task in the executor and returns what it told. Not by the future's own {@code get}:
     * that may run the task right here.
     */
    private static String told(Executor executor, boolean wrapped) throws InterruptedException {
        AtomicReference<String> text = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        Runnable task = () -> {
            text.set(
                    Thread.currentThread() == CALLER.get()
                            ? "ran in the caller"
                            : RecordingContext.describe());
            done.countDown();
        };
        executor.execute(wrapped ? RecordingContext.wrap(task) : task);
        assertTrue("the task ran", done.await(60, TimeUnit.SECONDS));
        return text.get();
    }

    /**
     * Workers that a pool starts while a context is open do not keep it, wrapped tasks
     * have it, and nothing stays behind.
     */
    @Test
    public void poolWorkersStayClean() throws Exception {
        CALLER.set(Thread.currentThread());
        ExecutorService fixed = Executors.newFixedThreadPool(2);
        ExecutorService cached = Executors.newCachedThreadPool();
        ForkJoinPool forkJoin = new ForkJoinPool(2);
        try {
            for (Executor pool : List.of(fixed, cached, forkJoin, ForkJoinPool.commonPool())) {
                try (RecordingContext c =
                        RecordingContext.where(A, "submitter").where(RAW, "id").build()) {
                    assertEquals("a new worker is clean", "{}", told(pool, false));
                    assertEquals("{key0=submitter, key7=id}", told(pool, true));
                    assertEquals(
                            "{key0=submitter, key7=id}", told(RecordingContext.wrap(pool), false));
                }
                for (int i = 0; i < 4; i++) {
                    assertEquals("a used worker is clean", "{}", told(pool, false));
                }
            }
        } finally {
            fixed.shutdown();
            cached.shutdown();
            forkJoin.shutdown();
        }
    }

    /** A function carries the context where it was wrapped, a thread that where it was made. */
    @Test
    public void functionsAndThreadsCarryTheContext() throws Exception {
        String[] seen = new String[2];
        ThreadFactory factory = RecordingContext.wrap((ThreadFactory) Thread::new);
        Function<String, String> function;
        Thread thread;
        try (RecordingContext c = RecordingContext.where(A, "a").build()) {
            Function<String, String> plain = text -> text + RecordingContext.describe();
            function = RecordingContext.wrap(plain);
            thread = factory.newThread(() -> seen[0] = RecordingContext.describe());
        }
        Thread bare = factory.newThread(() -> seen[1] = RecordingContext.describe());
        for (Thread each : List.of(thread, bare)) {
            each.start();
            each.join();
        }
        assertEquals("{key0=a}", seen[0]);
        assertEquals("{}", seen[1]);
        try (RecordingContext c = RecordingContext.where(B, "b").build()) {
            assertEquals("in {key0=a}", function.apply("in "));
            assertEquals("{key1=b}", RecordingContext.describe());
        }
        assertEquals("{}", RecordingContext.describe());
    }

    /** Stages of a CompletableFuture on a wrapped executor. */
    @Test
    public void stagesOnWrappedExecutorCarryTheContext() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            Executor carrying = RecordingContext.wrap((Executor) pool);
            CompletableFuture<String> stage;
            try (RecordingContext c = RecordingContext.where(A, "a").build()) {
                stage = CompletableFuture.supplyAsync(RecordingContext::describe, carrying)
                        .thenApplyAsync(text -> text + RecordingContext.describe(), carrying);
                assertEquals("{key0=a}{key0=a}", stage.get(60, TimeUnit.SECONDS));
            }
            assertEquals(
                    "{}",
                    CompletableFuture.supplyAsync(RecordingContext::describe, pool)
                            .get(60, TimeUnit.SECONDS));
        } finally {
            pool.shutdown();
        }
    }

    /**
     * A loop that runs everybody's tasks on its one thread, as Netty's does, carries
     * contexts by hand.
     */
    @Test
    public void anEventLoopCarriesContextsByHand() throws Exception {
        BlockingQueue<String> seen = new ArrayBlockingQueue<>(16);
        EventLoop loop = new EventLoop();
        Thread thread = new Thread(loop);
        thread.start();
        for (String tenant : new String[] {"one", "two"}) {
            try (RecordingContext c = RecordingContext.where(A, tenant).build()) {
                loop.add(() -> {
                    seen.add(RecordingContext.describe());
                    // A task of a task belongs to the same request.
                    loop.add(() -> seen.add("then " + RecordingContext.describe()));
                });
            }
        }
        loop.add(() -> seen.add(RecordingContext.describe()));
        String[] got = new String[5];
        for (int i = 0; i < got.length; i++) {
            got[i] = seen.poll(60, TimeUnit.SECONDS);
        }
        loop.end();
        thread.join();
        // Who is first is open: the loop runs while tasks are added.
        Arrays.sort(got);
        assertEquals(
                List.of("then {key0=one}", "then {key0=two}", "{key0=one}", "{key0=two}", "{}"),
                List.of(got));
        assertEquals("the loop itself has none", "{}", loop.atEnd);
    }

    /** One thread, a queue, and each task with the context of whoever added it. */
    private static final class EventLoop implements Runnable {
        private static final Runnable END = () -> {};

        private final BlockingQueue<Entry> queue = new ArrayBlockingQueue<>(16);
        volatile String atEnd;

        void add(Runnable task) {
            queue.add(new Entry(task, RecordingContext.snapshot()));
        }

        void end() {
            queue.add(new Entry(END, RecordingContext.snapshot()));
        }

        @Override
        public void run() {
            try {
                for (Entry next = queue.take(); next.task != END; next = queue.take()) {
                    RecordingContext.runWithSnapshot(next.task, next.snapshot);
                }
                atEnd = RecordingContext.describe();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A task and its context. */
    private static final class Entry {
        final Runnable task;
        final RecordingContext.Snapshot snapshot;

        Entry(Runnable task, RecordingContext.Snapshot snapshot) {
            this.task = task;
            this.snapshot = snapshot;
        }
    }

    /**
     * The shape in which libraries that carry contexts ask for one: get, set, and restore
     * what was there, in nested pairs.
     */
    @Test
    public void propagationLibraryCarriesTheContext() throws Exception {
        Accessor accessor = new Accessor();
        RecordingContext.Snapshot captured;
        try (RecordingContext c =
                RecordingContext.where(A, "request").where(RAW, "id").build()) {
            captured = accessor.get();
        }
        inThread(() -> {
            try (RecordingContext mine = RecordingContext.where(B, "worker").build()) {
                AutoCloseable outer = accessor.set(captured);
                assertEquals("{key0=request, key7=id}", RecordingContext.describe());
                AutoCloseable inner = accessor.set(
                        RecordingContext.where(A, "inner").call(RecordingContext::snapshot));
                assertEquals("{key0=inner, key7=id}", RecordingContext.describe());
                inner.close();
                assertEquals("{key0=request, key7=id}", RecordingContext.describe());
                outer.close();
                outer.close();
                assertEquals("{key1=worker}", RecordingContext.describe());
            }
        });
    }

    /** What an adapter needs of this API. */
    private static final class Accessor {
        RecordingContext.Snapshot get() {
            return RecordingContext.snapshot();
        }

        AutoCloseable set(RecordingContext.Snapshot snapshot) {
            return snapshot.activateExactly();
        }
    }
}
