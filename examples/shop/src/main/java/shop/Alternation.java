package shop;

import io.ctxagent.AgentControl;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;

/**
 * What sampling costs, within one running JVM and one recording: each round has a phase in which
 * the recording goes on and two in which it is paused, in random order, so that what the compilers
 * made of the code, and whatever else the machine does, is the same for all. Phases are short,
 * rounds are many: what drifts within seconds hits all phases of a round. Threads that sleep are
 * known as such after some hundred milliseconds: long phases show what sampling them costs. The
 * paused phases against each other are the control: what they show is noise. In a pause all but
 * sampling stays on, so its cost is on both sides: contexts, class events, and the writer, which
 * wakes 50 times a second and flushes and looks at {@code /proc} once a second.
 */
final class Alternation {
    /** Requests served so far. */
    static final LongAdder SERVED = new LongAdder();
    /** Not measured: a resume makes two timers for each thread. */
    private static final long SETTLE_MILLIS = 30;

    /** Kinds of phases; the first is what the others are compared with. */
    private enum Kind {
        PAUSED,
        PAUSED_TOO,
        RECORDING
    }

    private final int rounds;
    private final long phaseMillis;
    private final String options;

    Alternation(int rounds, long phaseMillis, String options) {
        this.rounds = rounds;
        this.phaseMillis = phaseMillis;
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
        double[][] ratios = new double[4][rounds];
        Random random = new Random(1);
        AgentControl.execute("start," + options);
        AgentControl.execute("pause");
        for (int round = 0; round < rounds; round++) {
            List<Kind> order = Arrays.asList(Kind.values());
            Collections.shuffle(order, random);
            Map<Kind, Phase> phases = new EnumMap<>(Kind.class);
            for (Kind kind : order) {
                phases.put(kind, phase(kind == Kind.RECORDING));
            }
            Phase recording = phases.get(Kind.RECORDING);
            Phase paused = phases.get(Kind.PAUSED);
            Phase control = phases.get(Kind.PAUSED_TOO);
            ratios[0][round] = recording.rate / paused.rate;
            ratios[1][round] = recording.cpu / paused.cpu;
            ratios[2][round] = control.rate / paused.rate;
            ratios[3][round] = control.cpu / paused.cpu;
        }
        AgentControl.execute("stop");
        System.out.println("shop: " + rounds + " rounds of phases of " + phaseMillis
                + " ms in one JVM, medians (and their 95 % intervals)");
        System.out.println(line("recording / paused, throughput", ratios[0]));
        System.out.println(line("recording / paused, CPU per request", ratios[1]));
        System.out.println(line("paused / paused, throughput", ratios[2]));
        System.out.println(line("paused / paused, CPU per request", ratios[3]));
    }

    private Phase phase(boolean record) throws InterruptedException {
        if (record) {
            AgentControl.execute("resume");
        }
        Thread.sleep(SETTLE_MILLIS);
        long requests = SERVED.sum();
        long cpu = cpuNanos();
        long begin = System.nanoTime();
        Thread.sleep(phaseMillis);
        long nanos = System.nanoTime() - begin;
        Phase phase = new Phase(SERVED.sum() - requests, nanos, cpuNanos() - cpu);
        if (record) {
            AgentControl.execute("pause");
        }
        return phase;
    }

    /** Median with its 95 % interval (by rank). */
    private static String line(String what, double[] ratios) {
        Arrays.sort(ratios);
        int n = ratios.length;
        double median = (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
        int low = (int) Math.max(0, Math.floor(n / 2.0 - 0.98 * Math.sqrt(n)));
        return String.format(
                Locale.ROOT,
                "  %-36s %.4f (%.4f to %.4f)",
                what,
                median,
                ratios[low],
                ratios[n - 1 - low]);
    }

    private static long cpuNanos() {
        var system = (com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime();
    }
}
