import io.ctxagent.AgentControl;
import java.util.List;
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
    private static final AtomicLong USED = new AtomicLong();

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000_000;
        CountDownLatch worked = new CountDownLatch(count);
        CountDownLatch end = new CountDownLatch(1);
        AgentControl.execute("start,interval=10ms,file=cpu.jfr");
        List<Thread> threads = Threads.start(count, "pool", i -> live(nanos, worked, end));
        worked.await();
        AgentControl.execute("stop");
        System.out.println("pool used " + USED.get() + " ns");
        AgentControl.execute("start,event=wall,wall=10ms,file=wall.jfr");
        end.countDown();
        Threads.join(threads);
        AgentControl.execute("stop");
    }

    private static void live(long nanos, CountDownLatch worked, CountDownLatch end)
            throws InterruptedException {
        long used = 0;
        while (used < nanos) {
            long awakeUntil = used + BURST_NANOS;
            while (used < awakeUntil) {
                Work.spin(2_000);
                used = Cpu.usedByThisThread();
            }
            LockSupport.parkNanos(BURST_NANOS); // sleeping is what it is about
        }
        USED.addAndGet(used);
        worked.countDown();
        end.await();
    }
}
