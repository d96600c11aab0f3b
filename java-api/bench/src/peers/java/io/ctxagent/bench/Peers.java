package io.ctxagent.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * This API and its peers in one run, and how many times slower each peer is. Arguments: the VM
 * options that bring the agent in. Only the runs of this API have it.
 */
public final class Peers {
    private static final String OURS = "ctxagent";

    private Peers() {}

    /** Runs all and prints the table. */
    public static void main(String[] agent) throws RunnerException {
        List<RunResult> results = new ArrayList<>();
        results.addAll(run("platform", OURS, agent));
        if (Runtime.version().feature() >= 21) {
            String[] virtual = java.util.Arrays.copyOf(agent, agent.length + 1);
            virtual[agent.length] = "-Djmh.executor=VIRTUAL";
            print("virtual threads", run("virtual", OURS, virtual), 0, 0);
        }
        String scoped = Runtime.version().feature() >= 25 ? "|scopedValue" : "";
        results.addAll(
                run("peers", "openTelemetry|mdc|ddprof|pyroscope|threadLocal|jfrEvent" + scoped));
        print("platform threads", results, best(results, "One"), best(results, "Eight"));
    }

    private static Collection<RunResult> run(String what, String benches, String... options)
            throws RunnerException {
        System.out.println("# " + what + ", Java " + Runtime.version());
        ChainedOptionsBuilder builder = new OptionsBuilder()
                .include("\\.(" + benches + ")(One|Eight)$")
                .forks(2)
                .shouldFailOnError(false)
                .warmupIterations(8)
                .warmupTime(TimeValue.milliseconds(200))
                .measurementIterations(150)
                .measurementTime(TimeValue.milliseconds(10))
                .verbosity(VerboseMode.SILENT)
                .jvmArgsAppend(options);
        return new Runner(builder.build()).run();
    }

    /** The least of many short iterations: what a busy neighbour on the machine changes least. */
    private static double least(RunResult result) {
        return result.getBenchmarkResults().stream()
                .flatMap(b -> b.getIterationResults().stream())
                .mapToDouble(i -> i.getPrimaryResult().getScore())
                .min()
                .orElse(Double.NaN);
    }

    private static String name(RunResult result) {
        String full = result.getParams().getBenchmark();
        return full.substring(full.lastIndexOf('.') + 1);
    }

    private static double best(List<RunResult> results, String size) {
        return results.stream()
                .filter(r -> name(r).equals(OURS + size))
                .mapToDouble(Peers::least)
                .findFirst()
                .orElse(Double.NaN);
    }

    private static void print(
            String title, Collection<RunResult> results, double one, double eight) {
        System.out.println("\n## " + title + ", Java " + Runtime.version()
                + ": ns, least of all iterations; mean; times ours");
        results.stream()
                .sorted(Comparator.comparing((RunResult r) -> name(r).endsWith("Eight"))
                        .thenComparing(Peers::least))
                .forEach(r -> {
                    double ours = name(r).endsWith("Eight") ? eight : one;
                    String times =
                            ours > 0 ? String.format(Locale.ROOT, "%8.1f x", least(r) / ours) : "";
                    System.out.println(String.format(
                            Locale.ROOT,
                            "%-20s %8.2f %8.2f %s",
                            name(r),
                            least(r),
                            r.getPrimaryResult().getScore(),
                            times));
                });
    }
}
