import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/** Many threads that live for less than a millisecond of CPU time each: {@code THREADS MICROS}. Prints {@code shorts used NANOS ns}. */
public final class Short {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong USED = new AtomicLong();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000;
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> live(nanos), "short");
            thread.start();
            thread.join();
        }
        System.out.println("shorts used " + USED.get() + " ns");
    }

    private static void live(long nanos) {
        long used = THREADS.getCurrentThreadCpuTime();
        while (used < nanos) {
            for (int i = 0; i < 2_000; i++) {
                sink = sink * 31 + i;
            }
            used = THREADS.getCurrentThreadCpuTime();
        }
        USED.addAndGet(used);
    }

    private Short() {
    }
}
