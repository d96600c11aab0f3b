import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.RequestCosts;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests that tell their costs: {@code MILLIS} of CPU for each thread. Prints for each kind of
 * thread the sums of their CPU time and of its bounds, in nanoseconds. Stops the recording, and
 * prints the metrics that have labels.
 */
public final class Costs {
    private static final int THREADS = 4;
    private static final int REQUESTS = 10;

    public static void main(String[] args) throws Exception {
        long nanos = Duration.ofMillis(Long.parseLong(args[0])).toNanos() / REQUESTS;
        for (boolean virtual : new boolean[] {false, true}) {
            if (!virtual || Threads.hasVirtual()) {
                load(virtual, nanos);
            }
        }
        AgentControl.execute("stop");
        String metrics = AgentControl.execute("status,format=prometheus");
        metrics.lines()
                .filter(line -> line.startsWith("ctxagent_label"))
                .forEach(System.out::println);
    }

    private static void load(boolean virtual, long nanos) throws Exception {
        String kind = virtual ? "virtual" : "platform";
        LongAdder cpu = new LongAdder();
        LongAdder min = new LongAdder();
        LongAdder max = new LongAdder();
        Threads.join(Threads.start(virtual, THREADS, "load", i -> {
            for (int request = 0; request < REQUESTS; request++) {
                try (RecordingContext c = RecordingContext.where("kind", kind).build()) {
                    RequestCosts begun = RequestCosts.begin();
                    work(begun.elapsed().toNanos() + nanos);
                    RequestCosts costs = begun.soFar();
                    cpu.add(costs.cpu().toNanos());
                    min.add(costs.minCpu().toNanos());
                    max.add(costs.maxCpu().toNanos());
                }
            }
        }));
        System.out.println(kind + " " + cpu + " " + min + " " + max);
    }

    private static void work(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }
}
