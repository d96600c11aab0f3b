import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Many threads that use a short CPU time each, from their first line on: {@code THREADS MICROS
 * [BURST]}; with a third argument they sleep for a millisecond after so many microseconds of CPU
 * time, again and again. Prints {@code shorts used NANOS ns} and {@code shorts lived NANOS ns},
 * what the process used besides the main thread.
 */
public final class Short {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong USED = new AtomicLong();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000;
        long burst = args.length > 2 ? Long.parseLong(args[2]) * 1_000 : nanos;
        Cpu process = Cpu.ofProcess(0);
        Cpu main = Cpu.ofThisThread(0);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> live(nanos, burst), "short");
            thread.start();
            thread.join();
        }
        System.out.println("shorts used " + USED.get() + " ns");
        System.out.println("shorts lived " + (process.usedNanos() - main.usedNanos()) + " ns");
    }

    private static void live(long nanos, long burst) {
        // The JVM has posted the start of the thread by now, and not before it had used some tenths
        // of a millisecond.
        long first = THREADS.getCurrentThreadCpuTime();
        long used = first;
        long awakeUntil = used + burst;
        while (used - first < nanos) {
            for (int i = 0; i < 2_000; i++) {
                sink = sink * 31 + i;
            }
            used = THREADS.getCurrentThreadCpuTime();
            if (used > awakeUntil) {
                LockSupport.parkNanos(1_000_000); // sleeping is what it is about
                awakeUntil = used + burst;
            }
        }
        USED.addAndGet(used - first);
    }

    private Short() {}
}
