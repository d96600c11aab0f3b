import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Hands work over to threads in the ways of the JDK, within a scope that sets {@code tenant}, and
 * prints which context the work sees: {@code platform|virtual [COMMAND]...}. The commands are the
 * agent's, {@code wait}: until one is attached, and {@code long}: the work takes long.
 */
public final class Propagated {
    private static final Map<String, String> seen = new ConcurrentHashMap<>();
    private static int rounds = 3_000_000;

    public static void main(String[] args) throws Exception {
        for (String command : List.of(args).subList(1, args.length)) {
            if (command.equals("long")) {
                rounds *= 4;
            } else if (command.equals("wait")) {
                System.out.println("ready");
                Threads.awaitFile("attached");
            } else {
                AgentControl.execute(command);
            }
        }
        boolean virtual = args[0].equals("virtual");
        ThreadFactory factory = body -> virtual ? newVirtual(body) : newDaemon(body);
        ExecutorService pool = Executors.newFixedThreadPool(2, factory);
        ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1, factory);
        Threads.start(virtual, "parent", () -> handOver(pool, scheduler)).join();
        new TreeMap<>(seen).forEach((way, context) -> System.out.println(way + ": " + context));
        AgentControl.execute("status")
                .lines()
                .filter(line -> line.startsWith("propagate"))
                .forEach(System.out::println);
    }

    private static void handOver(ExecutorService pool, ScheduledExecutorService scheduler)
            throws Exception {
        note("1 before").call();
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<String> failing = new CompletableFuture<>();
        CompletableFuture<?> all;
        try (RecordingContext scope = RecordingContext.where("tenant", "acme").build()) {
            tasks(pool, scheduler);
            OtherTasks.handOver(pool);
            all = CompletableFuture.allOf(stages(source, pool), stagesOfFailure(failing));
            note("2 parent").call();
        }
        // By a worker without a context, which must have none afterwards.
        pool.submit(() -> {
                    source.complete("done");
                    failing.completeExceptionally(new IllegalStateException());
                    return note("3 completer").call();
                })
                .get();
        all.get();
        pool.submit(note("3 worker")).get();
        scheduler.submit(note("3 scheduler")).get();
        OtherTasks.handOverBare(pool);
    }

    private static void tasks(ExecutorService pool, ScheduledExecutorService scheduler)
            throws Exception {
        pool.submit(note("callable")).get();
        pool.submit(() -> burn("runnable")).get();
        pool.invokeAll(List.of(note("invokeAll")));
        scheduler.schedule(note("schedule"), 1, TimeUnit.MILLISECONDS).get();
        scheduler
                .schedule(() -> burn("schedule runnable"), 1, TimeUnit.MILLISECONDS)
                .get();
        CountDownLatch rounds = new CountDownLatch(2);
        Runnable periodic = () -> {
            noteNow("3 periodic");
            rounds.countDown();
        };
        Future<?> task = scheduler.scheduleAtFixedRate(periodic, 0, 1, TimeUnit.MILLISECONDS);
        rounds.await();
        task.cancel(false);
        CompletableFuture.supplyAsync(() -> burn("supplyAsync"), pool).get();
        CompletableFuture.runAsync(() -> burn("runAsync")).get();
    }

    private static CompletableFuture<?> stages(CompletableFuture<String> f, ExecutorService pool) {
        CompletableFuture<String> never = new CompletableFuture<>();
        return CompletableFuture.allOf(
                f.thenApply(x -> burn("thenApply")),
                f.thenApplyAsync(x -> burn("thenApplyAsync"), pool),
                f.thenCompose(x -> CompletableFuture.completedFuture(burn("thenCompose"))),
                f.thenAccept(x -> burn("thenAccept")),
                f.thenRun(() -> burn("thenRun")),
                f.handle((x, e) -> burn("handle")),
                f.whenComplete((x, e) -> burn("whenComplete")),
                f.thenCombine(f, (x, y) -> burn("thenCombine")),
                f.thenAcceptBoth(f, (x, y) -> burn("thenAcceptBoth")),
                f.runAfterBoth(f, () -> burn("runAfterBoth")),
                f.applyToEither(never, x -> burn("applyToEither")),
                f.acceptEither(never, x -> burn("acceptEither")),
                f.runAfterEither(never, () -> burn("runAfterEither")));
    }

    private static CompletableFuture<?> stagesOfFailure(CompletableFuture<String> f) {
        return CompletableFuture.allOf(
                f.exceptionally(e -> burn("exceptionally")),
                f.exceptionallyCompose(
                        e -> CompletableFuture.completedFuture(burn("exceptionallyCompose"))));
    }

    static Callable<String> note(String way) {
        return () -> noteNow(way);
    }

    static String noteNow(String way) {
        return seen.merge(way, RecordingContext.describe(), Propagated::both);
    }

    private static String both(String one, String other) {
        return one.contains(other) ? one : one + " and " + other;
    }

    /** Notes the context, and works long enough to be sampled. */
    static String burn(String way) {
        Work.spin(rounds);
        return noteNow(way);
    }

    private static Thread newDaemon(Runnable body) {
        Thread thread = new Thread(body, "worker");
        thread.setDaemon(true);
        return thread;
    }

    /** By reflection, as this compiles for 17. */
    private static Thread newVirtual(Runnable body) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (Thread) Class.forName("java.lang.Thread$Builder")
                    .getMethod("unstarted", Runnable.class)
                    .invoke(builder, body);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
