package io.ctxagent.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * The shapes of {@link ScopeBench} alone and after all others, then with several threads, platform
 * and virtual: time and bytes per operation as a table. Arguments: the VM options that bring the
 * agent in.
 */
public final class Matrix {
    private static final String SHAPES = "floor|one|oneNested|oneByName|oneOfSixteenValues|"
            + "oneEscaping|eightValues|eightFromHelper|snapshotOfSeven|raw16|raw36";
    private static final String FEW = "floor|one|oneEscaping|eightValues|snapshotOfSeven|raw36";

    private Matrix() {}

    /** Runs all and prints as it goes. */
    public static void main(String[] agent) throws RunnerException {
        System.out.println("# Java " + Runtime.version());
        System.out.println(
                "shape                before  threads     least    median    B/op   x floor");
        print("1 platform", run(SHAPES, 1, new String[] {"alone", "all"}, agent));
        for (int threads : new int[] {2, 4}) {
            print(threads + " platform", run(FEW, threads, new String[] {"all"}, agent));
        }
        if (Runtime.version().feature() >= 21) {
            String[] virtual = Arrays.copyOf(agent, agent.length + 1);
            virtual[agent.length] = "-Djmh.executor=VIRTUAL";
            for (int threads : new int[] {1, 2, 4}) {
                print(threads + " virtual", run(FEW, threads, new String[] {"all"}, virtual));
            }
        }
    }

    private static Collection<RunResult> run(
            String shapes, int threads, String[] before, String... options) throws RunnerException {
        return new Runner(new OptionsBuilder()
                        .include("ScopeBench\\.(" + shapes + ")$")
                        .param("before", before)
                        .threads(threads)
                        .forks(2)
                        .warmupIterations(5)
                        .warmupTime(TimeValue.milliseconds(200))
                        .measurementIterations(60)
                        .measurementTime(TimeValue.milliseconds(10))
                        .addProfiler(GCProfiler.class)
                        .verbosity(org.openjdk.jmh.runner.options.VerboseMode.SILENT)
                        .jvmArgsAppend(options)
                        .build())
                .run();
    }

    /**
     * The least of many short iterations, which a busy neighbour changes least, and their median.
     */
    private static void print(String threads, Collection<RunResult> results) {
        double floor = results.stream()
                .filter(r -> name(r).equals("floor"))
                .mapToDouble(r -> times(r)[0])
                .min()
                .orElse(Double.NaN);
        for (RunResult r : results) {
            double[] times = times(r);
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-20s %-7s %-11s %6.2f    %6.2f  %6s    %6.2f",
                    name(r),
                    r.getParams().getParam("before"),
                    threads,
                    times[0],
                    times[times.length / 2],
                    bytes(r),
                    times[0] / floor));
        }
    }

    private static double[] times(RunResult result) {
        return result.getBenchmarkResults().stream()
                .flatMap(b -> b.getIterationResults().stream())
                .mapToDouble(i -> i.getPrimaryResult().getScore())
                .sorted()
                .toArray();
    }

    private static String bytes(RunResult result) {
        for (Result<?> extra : result.getSecondaryResults().values()) {
            if (extra.getLabel().endsWith("gc.alloc.rate.norm")) {
                return String.format(Locale.ROOT, "%.1f", extra.getScore());
            }
        }
        return "-";
    }

    private static String name(RunResult result) {
        String full = result.getParams().getBenchmark();
        return full.substring(full.lastIndexOf('.') + 1);
    }
}
