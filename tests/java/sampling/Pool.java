import io.ctxagent.AgentControl;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that sleep between bursts of a millisecond, and outlive a recording of their CPU time;
 * they end in one of the wall clock: {@code THREADS MILLIS}, the CPU time of each. Prints {@code
 * pool used NANOS ns}; recordings {@code cpu.jfr}, {@code wall.jfr}.
 */
public final class Pool {
    private static final long BURST_NANOS = 1_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong USED = new AtomicLong();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000_000;
        CountDownLatch worked = new CountDownLatch(count);
        CountDownLatch end = new CountDownLatch(1);
        AgentControl.execute("start,interval=10ms,file=cpu.jfr");
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> live(nanos, worked, end), "pool");
            threads[i].start();
        }
        worked.await();
        AgentControl.execute("stop");
        System.out.println("pool used " + USED.get() + " ns");
        AgentControl.execute("start,event=wall,wall=10ms,file=wall.jfr");
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        AgentControl.execute("stop");
    }

    private static void live(long nanos, CountDownLatch worked, CountDownLatch end) {
        long used = 0;
        while (used < nanos) {
            long awakeUntil = used + BURST_NANOS;
            while (used < awakeUntil) {
                for (int i = 0; i < 2_000; i++) {
                    sink = sink * 31 + i;
                }
                used = THREADS.getCurrentThreadCpuTime();
            }
            LockSupport.parkNanos(BURST_NANOS); // sleeping is what it is about
        }
        USED.addAndGet(used);
        worked.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Pool() {
    }
}
