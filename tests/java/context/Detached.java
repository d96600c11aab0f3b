import io.ctxagent.RecordingContext;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Work that goes on for a time of CPU after the request that has started it has ended ({@code
 * loop}, {@code chain}), and work of a request that is still open ({@code open}): {@code
 * CPU_SECONDS}.
 */
public final class Detached {
    private static long cpuNanos;

    public static void main(String[] args) throws Exception {
        cpuNanos = Long.parseLong(args[0]) * 1_000_000_000L;
        ExecutorService pool = Executors.newCachedThreadPool();
        CountDownLatch chained = new CountDownLatch(1);
        Future<?> looped;
        try (RecordingContext request = RecordingContext.where("tenant", "acme").build()) {
            looped = pool.submit(Detached::loop);
            pool.execute(() -> chain(pool, cpuNanos, chained));
        }
        try (RecordingContext request = RecordingContext.where("tenant", "slow").build()) {
            pool.submit(Detached::open).get();
        }
        looped.get();
        chained.await();
        pool.shutdown();
    }

    private static void loop() {
        long end = cpuNanos() + cpuNanos;
        while (cpuNanos() < end) {
            Work.spin(1_000_000);
            try (RecordingContext job = RecordingContext.where("tenant", "own").build()) {
                own();
            }
        }
    }

    private static void own() {
        Work.spin(1_000_000);
    }

    /** Hands itself over again and again. */
    private static void chain(ExecutorService pool, long left, CountDownLatch chained) {
        long begin = cpuNanos();
        Work.spin(1_000_000);
        long rest = left - (cpuNanos() - begin);
        if (rest > 0) {
            pool.execute(() -> chain(pool, rest, chained));
        } else {
            chained.countDown();
        }
    }

    private static void open() {
        long end = cpuNanos() + cpuNanos;
        while (cpuNanos() < end) {
            Work.spin(1_000_000);
        }
    }

    /** Of the current thread. */
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
