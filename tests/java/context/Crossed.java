import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Several threads hand tasks over to the same pools, each within a context of its own, one in eight
 * within none: {@code TASKS}. A task that sees another context than that of its submitter is wrong.
 * Prints {@code wrong: N} and {@code seen: N}; then lets virtual threads with a context wait, which
 * hands over nothing.
 */
public final class Crossed {
    private static final int SUBMITTERS = 4;
    private static final int VALUES = 50;
    /** Tasks at a time: fewer than there is room for. */
    private static final Semaphore open = new Semaphore(1_000);

    private static final AtomicLong wrong = new AtomicLong();
    private static final AtomicLong seen = new AtomicLong();
    private static final ThreadPoolExecutor pool =
            new ThreadPoolExecutor(3, 3, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    private static final ForkJoinPool workers = new ForkJoinPool(3);
    private static final ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(2);
    private static final Timer timer = new Timer(true);

    public static void main(String[] args) throws Exception {
        int tasks = Integer.parseInt(args[0]);
        Threads.run(SUBMITTERS, "submitter", number -> {
            for (int i = number; i < tasks; i += SUBMITTERS) {
                open.acquire();
                submit(i / SUBMITTERS, i % 8 == 0 ? null : "t" + (i * 31 + number) % VALUES);
            }
        });
        open.acquire(1_000);
        System.out.println("wrong: " + wrong);
        System.out.println("seen: " + seen);
        if (Threads.hasVirtual()) {
            waitOnVirtualThreads();
        }
        pool.shutdown();
        workers.shutdown();
        scheduler.shutdown();
    }

    private static void submit(int way, String tenant) {
        if (tenant == null) {
            handOver(way, () -> check("{}"));
            return;
        }
        try (RecordingContext scope = RecordingContext.where("tenant", tenant).build()) {
            String expected = "{tenant=" + tenant + "}";
            handOver(way, () -> check(expected));
        }
    }

    private static void check(String expected) {
        if (!RecordingContext.describe().equals(expected)) {
            wrong.incrementAndGet();
        }
        seen.incrementAndGet();
        open.release();
    }

    private static void handOver(int way, Runnable task) {
        Executor shared = way % 2 == 0 ? pool : workers;
        switch (way % 9) {
            case 0 -> shared.execute(task);
            case 1 -> pool.submit(task);
            case 2 -> workers.submit(task);
            case 3 -> CompletableFuture.runAsync(task, shared);
            case 4 -> CompletableFuture.supplyAsync(() -> way, shared).thenRun(task);
            case 5 -> workers.execute(new Forking(task));
            case 6 -> scheduler.schedule(task, way % 3, TimeUnit.MILLISECONDS);
            case 7 -> startThread(way, task);
            default -> timer.schedule(timed(task), way % 3);
        }
    }

    private static void startThread(int way, Runnable task) {
        if (way % 64 == 0) {
            new Thread(task).start();
        } else if (Threads.hasVirtual()) {
            Threads.startVirtual(task::run);
        } else {
            pool.execute(task);
        }
    }

    private static TimerTask timed(Runnable task) {
        return new TimerTask() {
            @Override
            public void run() {
                task.run();
            }
        };
    }

    /** Has another worker do the task, perhaps. */
    private static final class Forking extends RecursiveAction {
        private final Runnable task;

        Forking(Runnable task) {
            this.task = task;
        }

        @Override
        protected void compute() {
            RecursiveAction inner = new RecursiveAction() {
                @Override
                protected void compute() {
                    task.run();
                }
            };
            inner.fork().join();
        }
    }

    private static void waitOnVirtualThreads() throws Exception {
        long before = carried();
        List<Thread> threads = Threads.start(true, 8, "", number -> {
            try (RecordingContext scope =
                    RecordingContext.where("tenant", "waiting").build()) {
                for (int i = 0; i < 100; i++) {
                    Thread.sleep(1);
                    Thread.yield();
                }
            }
        });
        Threads.join(threads);
        System.out.println("handed over by waits: " + (carried() - before));
    }

    private static long carried() {
        return AgentControl.execute("status")
                .lines()
                .filter(line -> line.startsWith("propagate "))
                .flatMap(line ->
                        java.util.stream.Stream.of(line.split("carried: ")).skip(1))
                .mapToLong(count -> Long.parseLong(count.split(",")[0]))
                .sum();
    }
}
