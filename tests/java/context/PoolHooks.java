import io.ctxagent.RecordingContext;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What a pool shows of the tasks that it was given within a scope is the application's own; prints
 * {@code hooks: CONTEXT}, the context that they saw. A task that is not the application's, or none,
 * is an exception. With an argument: of a pool whose worker has begun before the agent is attached.
 */
public final class PoolHooks {
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            attached();
            return;
        }
        try (RecordingContext scope = RecordingContext.where("tenant", "acme").build()) {
            hooks();
            rejection();
            removal();
            order();
        }
    }

    /** A task by its name: equal are those with the same one. */
    private static final class Named implements Runnable {
        final String name;
        final CountDownLatch done = new CountDownLatch(1);
        volatile String context;

        Named(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            context = RecordingContext.describe();
            done.countDown();
        }

        @Override
        public boolean equals(Object other) {
            return ((Named) other).name.equals(name);
        }

        @Override
        public int hashCode() {
            return name.hashCode();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final class Pool extends ThreadPoolExecutor {
        volatile Runnable before;
        volatile Runnable after;
        volatile Runnable rejected;

        Pool(BlockingQueue<Runnable> queue) {
            super(1, 1, 1, TimeUnit.MINUTES, queue);
            setRejectedExecutionHandler(noteRejected());
        }

        private RejectedExecutionHandler noteRejected() {
            return (task, pool) -> rejected = task;
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
            before = task;
        }

        @Override
        protected void afterExecute(Runnable task, Throwable failure) {
            after = task;
        }

        /** Its only worker waits until the result is released. */
        CountDownLatch block() {
            CountDownLatch release = new CountDownLatch(1);
            execute(() -> {
                try {
                    release.await();
                } catch (InterruptedException end) {
                    // of shutdownNow
                }
            });
            return release;
        }
    }

    private static void attached() throws Exception {
        Pool pool = new Pool(new LinkedBlockingQueue<>());
        Named first = new Named("first");
        pool.execute(first);
        first.done.await();
        System.out.println("ready");
        Threads.awaitFile("attached");
        try (RecordingContext scope = RecordingContext.where("tenant", "acme").build()) {
            hooks(pool);
        }
    }

    private static void hooks() throws Exception {
        hooks(new Pool(new LinkedBlockingQueue<>()));
    }

    private static void hooks(Pool pool) throws Exception {
        Named task = new Named("task");
        pool.execute(task);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        require(pool.before == task && pool.after == task, "before and after");
        System.out.println("hooks: " + task.context);
    }

    private static void rejection() throws Exception {
        Pool pool = new Pool(new LinkedBlockingQueue<>(1));
        CountDownLatch release = pool.block();
        Named queued = new Named("queued");
        Named rejected = new Named("rejected");
        pool.execute(queued);
        pool.execute(rejected);
        require(pool.rejected == rejected, "rejection");
        List<Runnable> never = pool.shutdownNow();
        require(never.size() == 1 && never.get(0) == queued, "shutdownNow");
        release.countDown();
    }

    private static void removal() throws Exception {
        Pool pool = new Pool(new LinkedBlockingQueue<>());
        CountDownLatch release = pool.block();
        Named kept = new Named("kept");
        pool.execute(new Named("removed"));
        pool.execute(kept);
        require(pool.remove(new Named("removed")), "removal");
        require(!pool.remove(new Named("removed")), "second removal");
        require(pool.getQueue().toString().equals("[kept]"), "what is left");
        release.countDown();
        kept.done.await();
        pool.shutdown();
    }

    /** The queue's order needs the application's tasks. */
    private static void order() throws Exception {
        Comparator<Runnable> byName = Comparator.comparing(task -> ((Named) task).name);
        Pool pool = new Pool(new PriorityBlockingQueue<>(2, byName));
        for (String name : List.of("first", "b", "a")) {
            pool.execute(new Named(name));
        }
        pool.shutdown();
        require(pool.awaitTermination(1, TimeUnit.MINUTES), "order");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
