package io.ctxagent.bench.loads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * What a profiler's sampling costs a load, in one JVM: each round has a phase of each arm in random
 * order, and its throughput is divided by that of the round's phase in which none samples. A second
 * arm of this kind is the control: what it shows is noise. What stays on in these phases too, so
 * that its cost is on both sides: see {@link Arm}. Arguments: {@code h2|jackson}, interval in ms,
 * rounds, directory for recordings.
 */
public final class Compare {
    private static final int WORKERS = 2;
    private static final long WARM_UP_MILLIS = 15_000;
    private static final long SETTLE_MILLIS = 30;
    private static final long PHASE_MILLIS = 250;
    private static final String NONE = "none";

    private final Workers workers;
    private final Map<String, Arm> arms = new LinkedHashMap<>();
    private final Map<String, List<Double>> throughput = new LinkedHashMap<>();
    private final Map<String, Latencies> latencies = new LinkedHashMap<>();

    private Compare(String load, long intervalMillis, Path directory) throws Exception {
        workers = new Workers(load, WORKERS);
        arms.put(NONE, new Arm.None());
        arms.put("control (none again)", new Arm.None());
        arms.put("ctxagent", new Arm.Ctxagent(directory, intervalMillis));
        arms.put("async-profiler ctimer", new Arm.Async("ctimer", intervalMillis));
        arms.put("async-profiler cpu-clock", new Arm.Async("cpu-clock", intervalMillis));
        if (Runtime.version().feature() >= 25) {
            arms.put("JDK CPUTimeSample", new Arm.Jfr(directory, intervalMillis));
        }
        for (String arm : arms.keySet()) {
            throughput.put(arm, new ArrayList<>());
            latencies.put(arm, new Latencies(WORKERS));
        }
    }

    public static void main(String[] args) throws Exception {
        Compare compare = new Compare(args[0], Long.parseLong(args[1]), Path.of(args[3]));
        // the compilers work meanwhile; nothing tells when they are done
        Thread.sleep(WARM_UP_MILLIS);
        int rounds = Integer.parseInt(args[2]);
        Random random = new Random(42);
        for (int i = 0; i < rounds; i++) {
            compare.round(random);
        }
        compare.print(args[0] + ", JDK " + Runtime.version().feature() + ", " + args[1] + " ms, "
                + rounds + " rounds");
        Runtime.getRuntime().halt(0); // workers have no end
    }

    private void round(Random random) throws IOException, InterruptedException {
        List<String> order = new ArrayList<>(arms.keySet());
        Collections.shuffle(order, random);
        Map<String, Double> rates = new LinkedHashMap<>();
        for (String arm : order) {
            rates.put(arm, phase(arm));
        }
        rates.forEach((arm, rate) -> throughput.get(arm).add(rate / rates.get(NONE)));
    }

    /** Operations per second of one phase. */
    private double phase(String name) throws IOException, InterruptedException {
        Arm arm = arms.get(name);
        arm.begin();
        Thread.sleep(SETTLE_MILLIS);
        Latencies phase = workers.begin();
        long begin = System.nanoTime();
        Thread.sleep(PHASE_MILLIS);
        workers.begin();
        double seconds = (System.nanoTime() - begin) / 1e9;
        arm.end();
        latencies.get(name).add(phase);
        return phase.total() / seconds;
    }

    private void print(String title) {
        System.out.println("| " + title
                + " | throughput / none (95 % interval of the median) | p50 (us) | p99.9 (us) |");
        System.out.println("|---|---|---|---|");
        throughput.forEach((arm, ratios) -> {
            double[] sorted = ratios.stream().mapToDouble(r -> r).sorted().toArray();
            Latencies seen = latencies.get(arm);
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %.3f (%.3f to %.3f) | %.1f | %.1f |%n",
                    arm,
                    median(sorted),
                    sorted[rank(sorted.length)],
                    sorted[sorted.length - 1 - rank(sorted.length)],
                    seen.quantileMicros(0.5),
                    seen.quantileMicros(0.999));
        });
    }

    private static double median(double[] sorted) {
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Rank of the lower end of the median's 95 % interval. */
    private static int rank(int n) {
        return (int) Math.max(0, Math.floor(n / 2.0 - 0.98 * Math.sqrt(n)));
    }
}
