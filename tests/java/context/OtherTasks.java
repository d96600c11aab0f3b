import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Ways of the JDK to hand over tasks of other kinds than {@link Propagated} itself does. */
final class OtherTasks {
    /** A pool whose worker is started by a thread with a context. */
    private static ExecutorService bornInside;

    private OtherTasks() {}

    /** By a thread with a context. */
    static void handOver(ExecutorService pool) throws Exception {
        ForkJoinPool workers = new ForkJoinPool(2);
        run(pool, "execute");
        run(workers, "execute in ForkJoinPool");
        forkJoin(workers);
        new Streamed("parallel stream").run();
        timers();
        threads();
        if (Threads.hasVirtual()) {
            virtualThreads();
            subtask();
        }
        workers.shutdown();
    }

    /** By a thread without a context: workers that had one must have none. */
    static void handOverBare(ExecutorService pool) throws Exception {
        run(pool, "3 pool");
        run(ForkJoinPool.commonPool(), "3 common pool");
        new Streamed("3 bare stream").run();
        ForkJoinPool.commonPool().submit(new Forked("3 bare fork")).get();
        bornInside.submit(Propagated.note("3 new pool")).get();
        bornInside.shutdown();
    }

    private static void run(Executor executor, String way) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        executor.execute(() -> {
            Propagated.noteNow(way);
            done.countDown();
        });
        done.await();
    }

    // ---- fork and join --------------------------------------------------------------------------

    private static void forkJoin(ForkJoinPool workers) throws Exception {
        workers.submit(() -> Propagated.burn("submit to ForkJoinPool")).get();
        workers.submit((Callable<String>) () -> Propagated.burn("submit Callable to ForkJoinPool"))
                .get();
        workers.invokeAll(List.of(Propagated.note("invokeAll of ForkJoinPool")));
        workers.invokeAny(List.of(Propagated.note("invokeAny of ForkJoinPool")));
        workers.invoke(new Forked("invoke RecursiveTask"));
        workers.submit(new Forked("submit RecursiveTask")).get();
        ForkJoinTask<Void> action = new RecursiveAction() {
            @Override
            protected void compute() {
                Propagated.burn("execute RecursiveAction");
            }
        };
        workers.execute(action);
        action.get();
        CountDownLatch adapted = new CountDownLatch(1);
        ForkJoinTask.adapt(() -> {
                    Propagated.noteNow("adapt");
                    adapted.countDown();
                })
                .fork();
        adapted.await();
    }

    /** Forks itself into a tree; all of it notes the same way. */
    private static final class Forked extends RecursiveTask<Integer> {
        private static final int DEPTH = 5;
        private final String way;
        private final int depth;

        Forked(String way) {
            this(way, DEPTH);
        }

        private Forked(String way, int depth) {
            this.way = way;
            this.depth = depth;
        }

        @Override
        protected Integer compute() {
            if (depth == 0) {
                Propagated.noteNow(way);
                return 1;
            }
            ForkJoinTask<Integer> left = new Forked(way, depth - 1).fork();
            return new Forked(way, depth - 1).invoke() + left.join();
        }
    }

    /** Notes what workers see, of whom there is one at least; the caller is none. */
    private static final class Streamed {
        private final String way;
        private final Thread caller = Thread.currentThread();
        private final CountDownLatch worked = new CountDownLatch(1);

        Streamed(String way) {
            this.way = way;
        }

        void run() {
            IntStream.range(0, 64).parallel().forEach(i -> noteByWorker());
        }

        private void noteByWorker() {
            if (Thread.currentThread() != caller) {
                Propagated.noteNow(way);
                worked.countDown();
                return;
            }
            try {
                worked.await();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    // ---- timers and threads ---------------------------------------------------------------------

    private static void timers() throws InterruptedException {
        Timer timer = new Timer(true);
        CountDownLatch done = new CountDownLatch(3);
        timer.schedule(timed("timer", done), 1);
        timer.schedule(timed("3 periodic timer", done), 0, 1);
        done.await();
        timer.cancel();
    }

    private static TimerTask timed(String way, CountDownLatch done) {
        return new TimerTask() {
            @Override
            public void run() {
                Propagated.noteNow(way);
                done.countDown();
            }
        };
    }

    private static void threads() throws Exception {
        Thread thread = new Thread(() -> Propagated.burn("thread"));
        thread.start();
        thread.join();
        bornInside = Executors.newSingleThreadExecutor(body -> new Thread(() -> body.run()));
        bornInside.submit(Propagated.note("submit to new pool")).get();
    }

    // ---- 21 and later, by reflection ------------------------------------------------------------

    private static void virtualThreads() throws Exception {
        Threads.startVirtual(() -> Propagated.burn("virtual thread")).join();
        ExecutorService executor = (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        run(executor, "execute on virtual thread");
        executor.submit(Propagated.note("submit to virtual thread")).get();
        executor.shutdown();
        executor.awaitTermination(1, TimeUnit.MINUTES);
    }

    private static void subtask() throws Exception {
        try (Subtasks scope = new Subtasks()) {
            scope.fork(Propagated.note("subtask"));
            scope.join();
        }
    }
}
