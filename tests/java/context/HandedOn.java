import io.ctxagent.RecordingContext;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.stream.IntStream;

/**
 * Chains of stages, streams, timers, threads and virtual threads that wait: each part of the work
 * of a request sees its context, and nothing else does.
 */
public final class HandedOn {
    private static final String CONTEXT = Checks.contextOf("acme");

    public static void main(String[] args) throws Exception {
        stages();
        streams(ForkJoinPool.commonPool());
        streams(new ForkJoinPool(3));
        timers();
        threads();
        workersOfTheApplication();
        if (Threads.hasVirtual()) {
            virtualThreads();
            subtasks();
        }
        Checks.printCount();
    }

    /** Does it within the request; returns when the request has ended. */
    private static void request(Threads.Body body) throws Exception {
        try (RecordingContext scope = Checks.request("acme")) {
            body.run();
            Checks.context("request", CONTEXT);
        }
        Checks.context("after the request", Checks.NONE);
    }

    // ---- stages and streams ---------------------------------------------------------------------

    private static String next(String text, String letter) {
        Checks.context("stage " + letter, CONTEXT);
        return text + letter;
    }

    private static void stages() throws Exception {
        ExecutorService one = Executors.newSingleThreadExecutor();
        ExecutorService other = Executors.newSingleThreadExecutor();
        CountDownLatch begin = new CountDownLatch(1);
        CompletableFuture<?>[] chains = new CompletableFuture<?>[2];
        request(() -> {
            CompletableFuture<String> first = CompletableFuture.supplyAsync(
                    () -> {
                        await(begin);
                        return next("", "a");
                    },
                    one);
            chains[0] = first.thenCompose(
                            s -> CompletableFuture.supplyAsync(() -> next(s, "b"), other))
                    .thenApply(s -> next(s, "c"));
            chains[1] = first.thenComposeAsync(
                            s -> CompletableFuture.supplyAsync(() -> next(s, "d")))
                    .thenApplyAsync(s -> next(s, "e"));
        });
        begin.countDown();
        Checks.same("chain", "abc", chains[0].get());
        Checks.same("asynchronous chain", "ade", chains[1].get());
        for (ExecutorService service : List.of(one, other)) {
            Checks.same(
                    "executor",
                    Checks.NONE,
                    service.submit(RecordingContext::describe).get());
            service.shutdown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void streams(ForkJoinPool pool) throws Exception {
        Runnable stream = () -> IntStream.range(0, 200).parallel().forEach(i -> {
            Work.spin(10_000);
            Checks.context("stream", CONTEXT);
        });
        request(() -> pool.submit(stream).get());
        for (int i = 0; i < 3; i++) {
            String seen = pool.submit(RecordingContext::describe).get();
            Checks.same("after the stream", Checks.NONE, seen);
        }
    }

    // ---- timers ---------------------------------------------------------------------------------

    private static TimerTask timed(String expected, CountDownLatch done) {
        return new TimerTask() {
            @Override
            public void run() {
                Checks.context("timer", expected);
                done.countDown();
            }
        };
    }

    private static void timers() throws Exception {
        Timer timer = new Timer(true);
        CountDownLatch done = new CountDownLatch(4);
        CountDownLatch never = new CountDownLatch(1);
        TimerTask repeated = timed(Checks.NONE, done);
        request(() -> {
            timer.schedule(timed(CONTEXT, done), 1);
            timer.schedule(timed(CONTEXT, done), new Date());
            timer.schedule(repeated, 0, 1);
            TimerTask cancelled = timed(CONTEXT, never);
            timer.schedule(cancelled, 3_600_000);
            Checks.same("cancelled", true, cancelled.cancel());
        });
        done.await();
        repeated.cancel();
        CountDownLatch last = new CountDownLatch(1);
        timer.schedule(timed(Checks.NONE, last), 0);
        last.await();
        timer.cancel();
    }

    // ---- threads --------------------------------------------------------------------------------

    /** A thread with a {@code run} of its own. */
    private static final class Own extends Thread {
        @Override
        public void run() {
            Checks.context("own run", CONTEXT);
        }
    }

    /** One that runs what it was made with, too. */
    private static final class Around extends Thread {
        Around(Runnable body) {
            super(body);
        }

        @Override
        public void run() {
            Checks.context("before", CONTEXT);
            super.run();
            Checks.context("after", CONTEXT);
        }
    }

    private static void threads() throws Exception {
        Thread[] threads = {
            new Own(),
            new Around(() -> Checks.context("body", CONTEXT)),
            new Thread(() -> {
                try (RecordingContext scope = Checks.request("inner")) {
                    Checks.context("scope of a thread", Checks.contextOf("inner"));
                }
                Checks.context("thread", CONTEXT);
            })
        };
        request(() -> {
            for (Thread thread : threads) {
                thread.start();
            }
        });
        for (Thread thread : threads) {
            thread.join();
        }
        Thread bare = new Thread() {
            @Override
            public void run() {
                Checks.context("thread of none", Checks.NONE);
            }
        };
        bare.start();
        bare.join();
    }

    /** Workers of a class of the application, born within a request, belong to none. */
    private static void workersOfTheApplication() throws Exception {
        ForkJoinPool pool =
                new ForkJoinPool(1, owner -> new ForkJoinWorkerThread(owner) {}, null, false);
        request(() -> Checks.same(
                "first", CONTEXT, pool.submit(RecordingContext::describe).get()));
        Checks.same(
                "second", Checks.NONE, pool.submit(RecordingContext::describe).get());
        pool.shutdown();
    }

    // ---- virtual threads ------------------------------------------------------------------------

    private static void virtualThreads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        request(() -> threads.addAll(Threads.start(true, 5, "", number -> {
            Checks.context("virtual thread", CONTEXT);
            waitOften();
            Checks.context("after waits", CONTEXT);
            try (RecordingContext scope = Checks.request("inner")) {
                waitOften();
                Checks.context("scope after waits", Checks.contextOf("inner"));
            }
            Checks.context("after the scope", CONTEXT);
        })));
        threads.addAll(Threads.start(true, 5, "", number -> {
            Checks.context("virtual thread of none", Checks.NONE);
            waitOften();
            Checks.context("of none, after waits", Checks.NONE);
        }));
        Threads.join(threads);
    }

    private static void waitOften() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            Thread.sleep(1);
            Thread.yield();
        }
    }

    private static void subtasks() throws Exception {
        request(() -> {
            try (Subtasks scope = new Subtasks()) {
                scope.fork(() -> next("", "f"));
                scope.fork(() -> next("", "g"));
                Checks.same("subtasks", List.of("f", "g"), scope.join());
            }
        });
    }
}
