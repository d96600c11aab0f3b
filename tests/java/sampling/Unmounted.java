import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that wait for a known time, each under a label that says for what: {@code THREADS
 * DEPTH MILLIS KIND...}. They wait below {@code DEPTH} calls of {@code descend}. Prints the
 * milliseconds that each label has waited. {@code busy} computes for 20 ms at a time; {@code
 * carrier} lets others run all the time.
 */
public final class Unmounted {
    private static final RecordingContextKey LABEL = RecordingContextKey.forName("label");
    private static final BlockingQueue<String> QUEUE = new ArrayBlockingQueue<>(1);
    private static final Object LOCK = new Object();
    private static final Object NOTIFIED = new Object();
    private static final long SLICE_NANOS = 20_000_000;
    private static final Map<String, Long> WAITED = new TreeMap<>();
    private static volatile boolean isOver;
    private static long millis;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int depth = Integer.parseInt(args[1]);
        millis = Long.parseLong(args[2]);
        List<Thread> all = new ArrayList<>();
        CountDownLatch begun = new CountDownLatch(threads * (args.length - 3));
        Thread owner = Threads.start("owner", Unmounted::holdLock);
        for (int kind = 3; kind < args.length; kind++) {
            String label = args[kind];
            all.addAll(Threads.start(true, threads, label, number -> task(label, depth, begun)));
        }
        owner.join();
        isOver = true;
        while (all.stream().anyMatch(Thread::isAlive)) {
            all.forEach(LockSupport::unpark);
            synchronized (NOTIFIED) {
                NOTIFIED.notifyAll();
            }
            Thread.yield();
        }
        WAITED.forEach((label, nanos) -> System.out.println(label + " " + nanos / 1_000_000));
    }

    /** Holds the lock while the threads wait. */
    private static void holdLock() {
        synchronized (LOCK) {
            long end = System.nanoTime() + millis * 1_000_000;
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
    }

    private static void task(String label, int depth, CountDownLatch begun) throws Exception {
        // Threads that yield to each other stay in their carrier's own queue, and can keep it from
        // those in the common one. None is there if nobody else waits for this.
        begun.countDown();
        begun.await();
        try (RecordingContext context = RecordingContext.where(LABEL, label).build()) {
            long begin = System.nanoTime();
            long ran = descend(label, depth);
            add(label, System.nanoTime() - begin - ran);
        }
    }

    private static synchronized void add(String label, long nanos) {
        WAITED.merge(label, nanos, Long::sum);
    }

    /** Returns for how long it did not wait, in nanoseconds. */
    private static long descend(String label, int calls) throws Exception {
        if (calls > 0) {
            return descend(label, calls - 1);
        }
        switch (label) {
            case "sleep" -> Thread.sleep(millis);
            case "queue" -> QUEUE.poll(millis, TimeUnit.MILLISECONDS);
            case "park" -> park();
            case "monitor" -> enter();
            case "notify" -> await();
            default -> {
                return compute(label.equals("busy") ? SLICE_NANOS : 0);
            }
        }
        return 0;
    }

    private static void park() {
        while (!isOver) {
            LockSupport.park(LOCK);
        }
    }

    private static void enter() {
        synchronized (LOCK) {
            Work.spin(1);
        }
    }

    private static void await() throws InterruptedException {
        synchronized (NOTIFIED) {
            while (!isOver) {
                NOTIFIED.wait();
            }
        }
    }

    /** Computes for this time, over and over, and lets the other threads run in between. */
    private static long compute(long slice) {
        long ran = 0;
        while (!isOver) {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < slice) {
                Work.spin(1_000);
            }
            ran += System.nanoTime() - begin;
            Thread.yield();
        }
        return ran;
    }
}
