import io.ctxagent.RecordingContext;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.AbortPolicy;
import java.util.concurrent.ThreadPoolExecutor.CallerRunsPolicy;
import java.util.concurrent.ThreadPoolExecutor.DiscardOldestPolicy;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;

/**
 * Tasks that a pool refuses, and one task that is queued more than once: each run sees the context
 * of the thread that handed it over, and nothing is left on the threads.
 */
public final class Rejected {
    /** Notes the contexts of its runs. */
    private static final class Task implements Runnable {
        private final StringBuilder seen = new StringBuilder();

        @Override
        public synchronized void run() {
            seen.append(RecordingContext.describe());
        }

        synchronized String seen() {
            return seen.toString();
        }
    }

    /** A pool of one worker, which is busy until {@link #release}. */
    private static final class BusyPool extends ThreadPoolExecutor {
        private final CountDownLatch released = new CountDownLatch(1);

        BusyPool(int room, RejectedExecutionHandler handler) {
            super(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(room), handler);
            execute(() -> {
                try {
                    released.await();
                } catch (InterruptedException end) {
                    // of shutdownNow
                }
            });
        }

        void executeWithin(String request, Runnable task) {
            try (RecordingContext scope = Checks.request(request)) {
                execute(task);
            }
        }

        /** Runs what is queued, and ends. The worker has no context then. */
        void release() throws Exception {
            released.countDown();
            Task last = new Task();
            while (getQueue().remainingCapacity() == 0) {
                Thread.onSpinWait();
            }
            execute(last);
            shutdown();
            Checks.same("ended", true, awaitTermination(1, TimeUnit.MINUTES));
            Checks.same("worker afterwards", Checks.NONE, last.seen());
        }
    }

    private static final RejectedExecutionHandler SWALLOWS = (task, pool) -> {};
    private static final RejectedExecutionHandler RUNS = (task, pool) -> task.run();

    public static void main(String[] args) throws Exception {
        shutDown();
        for (RejectedExecutionHandler handler : List.of(SWALLOWS, new DiscardPolicy())) {
            full(handler, "", false);
        }
        full(new AbortPolicy(), "", true);
        for (RejectedExecutionHandler handler : List.of(RUNS, new CallerRunsPolicy())) {
            full(handler, Checks.contextOf("second"), false);
        }
        oldest();
        twice();
        direct();
        Checks.printCount();
    }

    private static void shutDown() {
        ForkJoinPool workers = new ForkJoinPool(1);
        workers.shutdownNow();
        submit("fork-join", () -> workers.submit(() -> {}), true);
        for (RejectedExecutionHandler handler : List.of(
                new AbortPolicy(),
                SWALLOWS,
                new CallerRunsPolicy(),
                new DiscardPolicy(),
                new DiscardOldestPolicy())) {
            BusyPool pool = new BusyPool(1, handler);
            pool.shutdownNow();
            boolean throwing = handler instanceof AbortPolicy;
            submit("shut down", () -> pool.submit(() -> {}), throwing);
            submit("shut down, execute", () -> pool.execute(() -> {}), throwing);
        }
    }

    private static void submit(String what, Runnable submission, boolean isRefused) {
        boolean refused = false;
        try (RecordingContext scope = Checks.request("refused")) {
            try {
                submission.run();
            } catch (RejectedExecutionException expected) {
                refused = true;
            }
            Checks.context(what, Checks.contextOf("refused"));
        }
        Checks.same(what, isRefused, refused);
        Checks.context(what + ", afterwards", Checks.NONE);
    }

    /** {@code seen}: the context with which the handler runs the task that has no room. */
    private static void full(RejectedExecutionHandler handler, String seen, boolean isRefused)
            throws Exception {
        BusyPool pool = new BusyPool(1, handler);
        String what = "full, " + handler.getClass().getSimpleName();
        Task first = new Task();
        pool.executeWithin("first", first);
        Task second = new Task();
        submit(what, () -> pool.executeWithin("second", second), isRefused);
        pool.release();
        Checks.same(what + ", first", Checks.contextOf("first"), first.seen());
        Checks.same(what + ", second", seen, second.seen());
    }

    private static void oldest() throws Exception {
        BusyPool pool = new BusyPool(1, new DiscardOldestPolicy());
        Task first = new Task();
        Task second = new Task();
        pool.executeWithin("first", first);
        pool.executeWithin("second", second);
        pool.release();
        Checks.same("oldest", "", first.seen());
        Checks.same("newest", Checks.contextOf("second"), second.seen());
    }

    /** The same task is queued for two requests, and for none. */
    private static void twice() throws Exception {
        BusyPool pool = new BusyPool(5, new AbortPolicy());
        Task task = new Task();
        Task removed = new Task();
        pool.executeWithin("first", task);
        pool.executeWithin("first", removed);
        pool.execute(task);
        pool.executeWithin("second", task);
        pool.executeWithin("second", removed);
        Checks.same("removed", true, pool.remove(removed) && pool.remove(removed));
        Checks.same("removed again", false, pool.remove(removed));
        pool.release();
        String all = Checks.contextOf("first") + Checks.NONE + Checks.contextOf("second");
        Checks.same("twice", all, task.seen());
        Checks.same("never", "", removed.seen());
    }

    /** A run of the task by another thread takes nothing from the queued one. */
    private static void direct() throws Exception {
        BusyPool pool = new BusyPool(2, new AbortPolicy());
        Task task = new Task();
        pool.executeWithin("queued", task);
        task.run();
        pool.release();
        Checks.same("direct", Checks.NONE + Checks.contextOf("queued"), task.seen());
    }
}
