package shop;

import io.ctxagent.AgentControl;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/**
 * What recording costs, within one running JVM and one recording: in each pair of phases it goes on in one and is paused in the other, so that
 * what the compilers made of the code, and whatever else the machine does, is the same for both. Which comes first changes from pair to pair.
 * Phases are short, pairs are many: what drifts within seconds hits both phases of a pair.
 */
final class Alternation {
    /** Requests served so far. */
    static final LongAdder SERVED = new LongAdder();
    private static final long PHASE_MILLIS = 150;
    /** Not measured: a resume makes two timers for each thread. */
    private static final long SETTLE_MILLIS = 30;

    private final int pairs;
    private final String options;

    Alternation(int pairs, String options) {
        this.pairs = pairs;
        this.options = options;
    }

    /** Requests per second, and CPU nanoseconds per request, of one phase. */
    private static final class Phase {
        final double rate;
        final double cpu;

        Phase(long requests, long nanos, long cpuNanos) {
            rate = requests * 1e9 / nanos;
            cpu = (double) cpuNanos / requests;
        }
    }

    void run() throws InterruptedException {
        double[] throughput = new double[pairs];
        double[] cpu = new double[pairs];
        AgentControl.execute("start," + options);
        AgentControl.execute("pause");
        for (int pair = 0; pair < pairs; pair++) {
            boolean recordFirst = pair % 2 == 0;
            Phase first = phase(recordFirst);
            Phase second = phase(!recordFirst);
            Phase with = recordFirst ? first : second;
            Phase without = recordFirst ? second : first;
            throughput[pair] = with.rate / without.rate;
            cpu[pair] = with.cpu / without.cpu;
        }
        AgentControl.execute("stop");
        System.out.println(line("throughput", throughput));
        System.out.println(line("CPU per request", cpu));
    }

    private Phase phase(boolean record) throws InterruptedException {
        if (record) {
            AgentControl.execute("resume");
        }
        Thread.sleep(SETTLE_MILLIS);
        long requests = SERVED.sum();
        long cpu = cpuNanos();
        long begin = System.nanoTime();
        Thread.sleep(PHASE_MILLIS);
        long nanos = System.nanoTime() - begin;
        Phase phase = new Phase(SERVED.sum() - requests, nanos, cpuNanos() - cpu);
        if (record) {
            AgentControl.execute("pause");
        }
        return phase;
    }

    /** Median with its 95 % interval (by rank), least and largest. */
    private String line(String what, double[] ratios) {
        Arrays.sort(ratios);
        int n = ratios.length;
        double median = n % 2 == 1 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
        int low = (int) Math.max(0, Math.floor(n / 2.0 - 0.98 * Math.sqrt(n)));
        return String.format(Locale.ROOT, "shop: recording / not recording, %d pairs in one JVM: %-15s %.3f (95 %% interval of the median %.3f to %.3f)", n,
                what, median, ratios[low], ratios[n - 1 - low]);
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
