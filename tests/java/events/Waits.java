import io.ctxagent.RecordingContext;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Parks of known causes, on platform or virtual threads ({@code platform|virtual}), each cause with
 * a label of its own: {@code lock}, {@code queue}, {@code future}, {@code bare} (without a
 * blocker), {@code brief} (too short). Prints how many there were of each, those of {@code brief}
 * that took ten milliseconds all the same, how many went on with another carrier, and for each
 * other park when it began and ended by the program's clock: {@code park LABEL BEFORE AFTER}.
 */
public final class Waits {
    private static final int ROUNDS = 12;
    private static final int WORKERS = 4;
    private static final long LONG_NANOS = 25_000_000;
    private static final long BRIEF_NANOS = 100_000;
    private static final long THRESHOLD_NANOS = 10_000_000;

    private static final AtomicInteger moved = new AtomicInteger();
    private static final AtomicInteger slow = new AtomicInteger();
    private static boolean virtual;

    public static void main(String[] args) throws Exception {
        virtual = args[0].equals("virtual");
        Threads.join(Threads.start(virtual, WORKERS, "worker", number -> work()));
        for (String label : new String[] {"lock", "queue", "future", "bare"}) {
            System.out.println(label + " " + ROUNDS * WORKERS);
        }
        System.out.println("brief " + slow);
        System.out.println("moved " + moved);
    }

    private static void work() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            awaitLock();
            labelled("queue", Waits::awaitElement);
            CompletableFuture<String> future = new CompletableFuture<>();
            endSoon(Thread.currentThread(), () -> future.complete("done"));
            labelled("future", () -> future.get());
            labelled("bare", () -> parkFor(LONG_NANOS));
            brief();
        }
    }

    private static void awaitLock() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        CompletableFuture<Void> isLocked = new CompletableFuture<>();
        Thread waiter = Thread.currentThread();
        Threads.start("holder", () -> {
            lock.lock();
            isLocked.complete(null);
            awaitWait(waiter, lock);
            lock.unlock();
        });
        isLocked.join();
        labelled("lock", lock::lock);
        lock.unlock();
    }

    private static void awaitElement() throws Exception {
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        if (queue.poll(LONG_NANOS, TimeUnit.NANOSECONDS) != null) {
            throw new AssertionError("an element");
        }
    }

    /** A permit that is left, or an early return, begins it again. */
    private static void parkFor(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void brief() {
        try (RecordingContext context = RecordingContext.where("label", "brief").build()) {
            long begin = System.nanoTime();
            LockSupport.parkNanos(BRIEF_NANOS);
            if (System.nanoTime() - begin >= THRESHOLD_NANOS) {
                slow.incrementAndGet();
            }
        }
    }

    private static void labelled(String label, Threads.Body body) throws Exception {
        String before = Thread.currentThread().toString();
        long begin = System.nanoTime();
        try (RecordingContext context = RecordingContext.where("label", label).build()) {
            body.run();
        }
        long end = System.nanoTime();
        if (!carrier(before).equals(carrier(Thread.currentThread().toString()))) {
            moved.incrementAndGet();
        }
        synchronized (Waits.class) {
            System.out.println("park " + label + " " + begin + " " + end);
        }
    }

    private static String carrier(String thread) {
        return thread.substring(thread.indexOf('@') + 1);
    }

    private static void endSoon(Thread waiter, Runnable end) {
        Threads.start("ender", () -> {
            awaitWait(waiter, null);
            end.run();
        });
    }

    /** Waits until it waits for the lock, or for its future, and then longer than is asked. */
    private static void awaitWait(Thread waiter, ReentrantLock lock) throws InterruptedException {
        while (lock == null ? !waitsForFuture(waiter) : !lock.hasQueuedThread(waiter)) {
            Thread.onSpinWait();
        }
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        Thread.sleep(TimeUnit.NANOSECONDS.toMillis(LONG_NANOS));
    }

    private static boolean waitsForFuture(Thread waiter) {
        Object blocker = LockSupport.getBlocker(waiter);
        return blocker != null && blocker.getClass().getName().contains("CompletableFuture");
    }
}
