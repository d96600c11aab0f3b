import io.ctxagent.RecordingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Executor services of each kind, and each way to give them a task: what they get within a request
 * runs with its context, what they get outside of one without; so also after tasks were cancelled,
 * where tasks submit tasks, and of workers that are born within a request.
 */
public final class Services {
    /** Hands a task over. */
    private interface HandOver {
        void run(ExecutorService service, Task task) throws Exception;
    }

    /** Notes the context that it sees. */
    private static final class Task implements Runnable, Callable<String> {
        final CountDownLatch done = new CountDownLatch(1);
        volatile String seen;

        @Override
        public void run() {
            seen = RecordingContext.describe();
            done.countDown();
        }

        @Override
        public String call() {
            run();
            return seen;
        }
    }

    public static void main(String[] args) throws Exception {
        for (String kind : kinds()) {
            ExecutorService service = service(kind, 2);
            for (Map.Entry<String, HandOver> way : ways(service).entrySet()) {
                boolean follows = !kind.equals("own") || !way.getKey().equals("execute");
                handOver(kind + ", " + way.getKey(), service, way.getValue(), follows);
            }
            cancel(kind, service);
            service.shutdown();
            for (int threads = 1; threads <= 4; threads++) {
                recurse(kind, threads);
            }
        }
        bornWithin("prestartAllCoreThreads", ThreadPoolExecutor::prestartAllCoreThreads);
        bornWithin("prestartCoreThread", ThreadPoolExecutor::prestartCoreThread);
        bornWithin("execute", pool -> pool.execute(() -> {}));
        Checks.printCount();
    }

    private static List<String> kinds() {
        List<String> kinds = new ArrayList<>(List.of(
                "fixed", "single", "cached", "scheduled", "fork-join", "work-stealing", "own"));
        if (Threads.hasVirtual()) {
            kinds.add("virtual");
        }
        return kinds;
    }

    private static ExecutorService service(String kind, int threads) throws Exception {
        return switch (kind) {
            case "fixed" -> Executors.newFixedThreadPool(threads);
            case "single" -> Executors.newSingleThreadExecutor();
            case "cached" -> Executors.newCachedThreadPool();
            case "scheduled" -> Executors.newScheduledThreadPool(threads);
            case "fork-join" -> new ForkJoinPool(threads);
            case "work-stealing" -> Executors.newWorkStealingPool(threads);
            case "own" -> new OwnService();
            default ->
                (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null);
        };
    }

    private static Map<String, HandOver> ways(ExecutorService service) {
        Map<String, HandOver> ways = new LinkedHashMap<>();
        ways.put("execute", ExecutorService::execute);
        ways.put("submit Runnable", (s, task) -> s.submit((Runnable) task));
        ways.put("submit Runnable with result", (s, task) -> s.submit(task, ""));
        ways.put("submit Callable", (s, task) -> s.submit((Callable<String>) task));
        ways.put("invokeAll", (s, task) -> s.invokeAll(List.of(task)));
        ways.put("invokeAll in time", (s, t) -> s.invokeAll(List.of(t), 1, TimeUnit.MINUTES));
        ways.put("invokeAny", (s, task) -> s.invokeAny(List.of(task)));
        ways.put("invokeAny in time", (s, t) -> s.invokeAny(List.of(t), 1, TimeUnit.MINUTES));
        if (service instanceof ScheduledExecutorService) {
            ways.put(
                    "schedule Runnable",
                    (s, task) -> ((ScheduledExecutorService) s)
                            .schedule((Runnable) task, 1, TimeUnit.MICROSECONDS));
            ways.put(
                    "schedule Callable",
                    (s, task) -> ((ScheduledExecutorService) s)
                            .schedule((Callable<String>) task, 1, TimeUnit.MICROSECONDS));
        }
        if (service instanceof ForkJoinPool) {
            ways.put(
                    "invoke",
                    (s, t) -> ((ForkJoinPool) s).invoke(ForkJoinTask.adapt((Runnable) t)));
            ways.put(
                    "submit ForkJoinTask",
                    (s, task) -> ((ForkJoinPool) s).submit(ForkJoinTask.adapt((Runnable) task)));
        }
        return ways;
    }

    /** Two tasks of a request, then one of none. */
    private static void handOver(
            String name, ExecutorService service, HandOver way, boolean follows) throws Exception {
        String expected = follows ? Checks.contextOf(name) : Checks.NONE;
        try (RecordingContext request = Checks.request(name)) {
            Checks.same(name, expected, contextSeen(service, way));
            Checks.same(name + " again", expected, contextSeen(service, way));
            Checks.context(name + ", its thread", Checks.contextOf(name));
        }
        Checks.same(name + " outside", Checks.NONE, contextSeen(service, way));
    }

    private static String contextSeen(ExecutorService service, HandOver way) throws Exception {
        Task task = new Task();
        way.run(service, task);
        task.done.await();
        return task.seen;
    }

    /** Some run, some are cancelled before. */
    private static void cancel(String kind, ExecutorService service) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Callable<Boolean> waiting = () -> release.await(1, TimeUnit.MINUTES);
        List<Future<?>> futures = new ArrayList<>();
        try (RecordingContext request = Checks.request("cancelled")) {
            for (int i = 0; i < 20; i++) {
                futures.add(service.submit(waiting));
            }
            futures.forEach(future -> future.cancel(false));
            release.countDown();
            Checks.context(kind + ", cancelling thread", Checks.contextOf("cancelled"));
        }
        for (int i = 0; i < 4; i++) {
            String seen = service.submit(RecordingContext::describe).get();
            Checks.same(kind + " after cancel", Checks.NONE, seen);
        }
    }

    // ---- tasks that submit tasks ----------------------------------------------------------------

    private static void recurse(String kind, int threads) throws Exception {
        for (String way : List.of("submit", "execute", "mixed")) {
            if (kind.equals("own") && !way.equals("submit")) {
                continue;
            }
            ExecutorService service = service(kind, threads);
            CountDownLatch done = new CountDownLatch(1);
            step(service, way, 0, Checks.NONE, done);
            done.await();
            service.shutdown();
        }
    }

    /** Each step has a scope of its own, which the next one sees. */
    private static void step(
            ExecutorService service, String way, int depth, String before, CountDownLatch done) {
        Checks.context("depth " + depth + " of " + way, before);
        if (depth == 5) {
            done.countDown();
            return;
        }
        String name = way + depth;
        Runnable next = () -> step(service, way, depth + 1, Checks.contextOf(name), done);
        try (RecordingContext scope = Checks.request(name)) {
            if (way.equals("submit") || way.equals("mixed") && depth % 2 == 0) {
                service.submit(next);
            } else {
                service.execute(next);
            }
        }
    }

    private static void bornWithin(String how, Consumer<ThreadPoolExecutor> start)
            throws Exception {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
        try (RecordingContext request = Checks.request("first")) {
            start.accept(pool);
        }
        Checks.same(how, Checks.NONE, pool.submit(RecordingContext::describe).get());
        pool.shutdown();
    }

    /** A queue and a thread: what it makes a future carries its context. */
    private static final class OwnService extends AbstractExecutorService {
        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private final Thread worker = Threads.startDaemon("own", this::work);
        private volatile boolean isShutdown;

        private void work() throws InterruptedException {
            while (!isShutdown) {
                tasks.take().run();
            }
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void shutdown() {
            tasks.add(() -> isShutdown = true);
        }

        @Override
        public List<Runnable> shutdownNow() {
            shutdown();
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return isShutdown;
        }

        @Override
        public boolean isTerminated() {
            return !worker.isAlive();
        }

        @Override
        public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
            worker.join(unit.toMillis(time));
            return isTerminated();
        }
    }
}
