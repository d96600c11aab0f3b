import io.ctxagent.patched.Calls;

import java.util.Arrays;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Has the JDK make each of the calls that a patch replaced. */
public class ReplacedCalls {
    public static void main(String[] arguments) throws Exception {
        pool();
        timer();
        int sum = new ForkJoinPool(1).submit(new Sum(5)).get();
        if (sum != 15) {
            throw new AssertionError(sum);
        }
        System.out.println("counts: " + Arrays.toString(Calls.COUNTS));
        System.out.println("calls: " + Calls.calls);
        System.exit(0);
    }

    /** One task that fails runs, two are drained. */
    private static void pool() throws InterruptedException {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Pool pool = new Pool();
        Runnable failing = () -> {
            runs.countDown();
            boolean isInterrupted = false;
            while (true) {
                try {
                    goesOn.await();
                    throw new IllegalStateException("wanted, interrupted: " + isInterrupted);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        };
        pool.execute(failing);
        runs.await();
        Runnable waiting = () -> {};
        pool.execute(waiting);
        pool.execute(waiting);
        int drained = pool.shutdownNow().size();
        goesOn.countDown();
        if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new AssertionError("the pool goes on");
        }
        System.out.println("drained: " + drained);
        System.out.println("before: " + (pool.before == failing));
        System.out.println("after: " + (pool.after == failing) + " " + pool.failure.getMessage());
    }

    private static void timer() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        new Timer(true)
                .schedule(
                        new TimerTask() {
                            @Override
                            public void run() {
                                ran.countDown();
                            }
                        },
                        0);
        ran.await();
    }

    private static final class Pool extends ThreadPoolExecutor {
        private volatile Runnable before;
        private volatile Runnable after;
        private volatile Throwable failure;

        Pool() {
            super(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2), task -> {
                Thread thread = new Thread(task);
                thread.setUncaughtExceptionHandler((t, e) -> {});
                return thread;
            });
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
            before = task;
        }

        @Override
        protected void afterExecute(Runnable task, Throwable cause) {
            after = task;
            failure = cause;
        }
    }

    private static final class Sum extends RecursiveTask<Integer> {
        private final int last;

        Sum(int last) {
            this.last = last;
        }

        @Override
        protected Integer compute() {
            if (last == 1) {
                return 1;
            }
            Sum rest = new Sum(last - 1);
            rest.fork();
            return last + rest.join();
        }
    }
}
