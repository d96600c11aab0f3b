import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/**
 * Waits for monitors and collections before, in and after a pause: {@code platform|virtual OPTIONS}
 * of the recording.
 *
 * <p>Each wait has a label. {@code before}, {@code paused} and {@code after} begin and end there;
 * {@code begun} begins before the pause and ends in it, {@code across} ends after it, {@code ended}
 * begins in it and ends after it. Prints how many collections there were outside of the pause, at
 * least and at most: {@code collections LOW HIGH}.
 */
public final class PausedWaits {
    private static final int COLLECTIONS = 3;
    private static final int RECORDED = 3;
    private static final int HOLD_MILLIS = 5;
    private static boolean virtual;

    public static void main(String[] args) throws Exception {
        virtual = args[0].equals("virtual");
        long[] start = answer("start," + args[1]);
        recorded("before");
        collect();
        Wait begun = new Wait("begun");
        Wait across = new Wait("across");
        long[] pause = answer("pause");
        begun.end();
        for (int i = 0; i < RECORDED; i++) {
            once("paused");
        }
        collect();
        Wait ended = new Wait("ended");
        long[] resume = answer("resume");
        across.end();
        ended.end();
        recorded("after");
        collect();
        long[] stop = answer("stop");
        long low = pause[0] - start[1] + stop[0] - resume[1];
        long high = pause[1] - start[0] + stop[1] - resume[0];
        System.out.println("collections " + low + " " + high);
    }

    /** Gives the agent a command; how many collections there had been before it and after it. */
    private static long[] answer(String command) {
        long before = collections();
        AgentControl.execute(command);
        return new long[] {before, collections()};
    }

    private static void collect() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }

    /** Waits until some of the waits are in the recording. */
    private static void recorded(String label) throws InterruptedException {
        long enough = Status.counter("lock.written") + RECORDED;
        while (Status.counter("lock.written") < enough) {
            once(label);
        }
    }

    private static void once(String label) throws InterruptedException {
        Wait wait = new Wait(label);
        Thread.sleep(HOLD_MILLIS);
        wait.end();
    }

    /** A thread that waits for a monitor that another one holds. */
    private static final class Wait {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch free = new CountDownLatch(1);
        private final String label;
        private final Thread holder;
        private final MonitorWait wait = new MonitorWait(virtual);
        private boolean entered;

        /** The wait has begun when this returns. */
        Wait(String label) throws InterruptedException {
            this.label = label;
            holder = Threads.start("holder", this::hold);
            begun.await();
        }

        /** Gives the monitor back; the wait is over when this returns. */
        void end() throws InterruptedException {
            free.countDown();
            holder.join();
        }

        private void hold() throws InterruptedException {
            Thread waiter;
            synchronized (this) {
                waiter = Threads.start(virtual, "waiter", this::waitForIt);
                wait.awaitBegin(waiter);
                begun.countDown();
                free.await();
            }
            waiter.join();
        }

        private void waitForIt() {
            try (RecordingContext context =
                    RecordingContext.where("label", label).build()) {
                wait.comes();
                synchronized (this) {
                    entered = true;
                }
            }
        }
    }
}
