import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.LongSupplier;

/**
 * A budget of CPU time: a program that ends by it does as much on a machine that has no time for it
 * as on an idle one.
 */
final class Cpu {
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final LongSupplier nanos;
    private final long begin;
    private final long end;

    private Cpu(LongSupplier nanos, long millis) {
        this.nanos = nanos;
        this.begin = nanos.getAsLong();
        this.end = begin + millis * 1_000_000;
    }

    /** The process's next {@code millis} of CPU time. */
    static Cpu ofProcess(long millis) {
        return new Cpu(SYSTEM::getProcessCpuTime, millis);
    }

    /** The calling platform thread's next {@code millis} of CPU time. */
    static Cpu ofThisThread(long millis) {
        return new Cpu(THREADS::getCurrentThreadCpuTime, millis);
    }

    /** What the calling platform thread has used of CPU time, in nanoseconds. */
    static long usedByThisThread() {
        return THREADS.getCurrentThreadCpuTime();
    }

    boolean isLeft() {
        return nanos.getAsLong() < end;
    }

    /** What was used since the budget was made. */
    long usedNanos() {
        return nanos.getAsLong() - begin;
    }

    /** Uses up what is left. */
    void burn() {
        while (isLeft()) {
            Work.spin(10_000);
        }
    }
}
