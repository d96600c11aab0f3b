import io.ctxagent.RecordingContext;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Work in step with the kernel's tick: each thread burns phase A (70 % of a period), then phase B
 * (30 %), then may sleep. Each phase has a context and counts its own CPU time, so the truth is
 * known. Arguments: platform|virtual, threads, period in ms, sleep in ms, CPU milliseconds to use.
 * Prints the true share of A, and the CPU seconds that the process used.
 */
public final class Bias {
    private static final AtomicLong cpuA = new AtomicLong();
    private static final AtomicLong cpuB = new AtomicLong();
    private static volatile double sink;
    private static long spinsPerMilli;

    public static void main(String[] args) throws Exception {
        boolean virtual = args[0].equals("virtual");
        int threads = Integer.parseInt(args[1]);
        double period = Double.parseDouble(args[2]);
        double sleep = Double.parseDouble(args[3]);
        calibrate();
        Cpu budget = Cpu.ofProcess(Long.parseLong(args[4]));
        Threads.join(Threads.start(virtual, threads, "bias", i -> work(period, sleep, budget)));
        System.out.println("CPU " + budget.usedNanos() / 1e9);
        System.out.println("TRUE-SHARE " + (double) cpuA.get() / (cpuA.get() + cpuB.get()));
    }

    private static void work(double period, double sleep, Cpu budget) throws InterruptedException {
        long a = (long) (spinsPerMilli * period * 0.7);
        long b = (long) (spinsPerMilli * period * 0.3);
        long spentA = 0;
        long spentB = 0;
        while (budget.isLeft()) {
            if (sleep > 0) {
                // sleeping is what the load is about
                Thread.sleep((long) sleep, (int) (sleep * 1e6 % 1e6));
            }
            try (RecordingContext context = RecordingContext.where("phase", "A").build()) {
                phaseA(a);
                spentA += a;
            }
            try (RecordingContext context = RecordingContext.where("phase", "B").build()) {
                phaseB(b);
                spentB += b;
            }
        }
        // Spins, not clock readings: they take the same time each, and reading a CPU clock would
        // itself be work.
        cpuA.addAndGet(spentA);
        cpuB.addAndGet(spentB);
    }

    /** A name of its own, for profilers that know no contexts. */
    private static void phaseA(long n) {
        spin(n);
    }

    private static void phaseB(long n) {
        spin(n);
    }

    private static void calibrate() {
        spin(20_000_000); // warm
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long from = System.nanoTime();
            spin(2_000_000);
            best = Math.min(best, System.nanoTime() - from);
        }
        spinsPerMilli = 2_000_000L * 1_000_000 / best;
    }

    private static void spin(long n) {
        double x = sink;
        for (long i = 0; i < n; i++) {
            x = x * 0.999_999 + 1;
        }
        sink = x;
    }
}
