package io.ctxagent.bench;

import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryList;
import io.ctxagent.observe.EntryType;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * What it costs to observe scopes: two threads do two microseconds of work in one scope after the
 * other, so that two cores are full and do about a million in a second, in phases with and without
 * an observer by turns. Throughput of each phase against its neighbours; and for a busy machine the
 * time of a scope, of the fastest twentieth of many short runs, to which comes the CPU time of all
 * other threads: those that deliver, and the garbage collector's.
 *
 * <p>Arguments: pairs of phases, milliseconds of a phase, rounds of the work, and {@code count} or
 * {@code read}: what the callback does; {@code never} or {@code before}: there is no observer, or
 * there was one before, for comparing VMs.
 */
public final class ObserverBench {
    private static final int THREADS = 2;
    private static final int WARM_UP_PHASES = 40;
    private static final RecordingContextKey ROUTE = RecordingContextKey.forName("route");
    private static final String[] ROUTES = {"GET /orders", "GET /items", "PUT /cart", "GET /"};
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final com.sun.management.ThreadMXBean CLOCKS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Worker[] workers = new Worker[THREADS];
    private final boolean reads;
    private final long phaseNanos;
    private final ContextObserver observer = ContextObserver.create(this::take);
    private long got;
    private long dropped;
    private long read;

    private ObserverBench(long phaseMillis, int rounds, boolean reads) {
        this.reads = reads;
        phaseNanos = phaseMillis * 1_000_000;
        for (int i = 0; i < THREADS; i++) {
            workers[i] = new Worker(rounds);
            workers[i].start();
        }
    }

    private void take(EntryList entries, ContextObserver self) {
        dropped += entries.dropped();
        got += entries.getEntries().size();
        if (reads) {
            for (Entry entry : entries) {
                read += entry.duration().toNanos() + entry.name().length();
            }
        }
    }

    /** See the class. */
    public static void main(String[] args) {
        int pairs = Integer.parseInt(args[0]);
        String mode = args[3];
        ObserverBench bench = new ObserverBench(
                Long.parseLong(args[1]), Integer.parseInt(args[2]), mode.equals("read"));
        if (mode.equals("never") || mode.equals("before")) {
            bench.alone(pairs, mode.equals("before"));
        } else {
            bench.compare(pairs);
        }
    }

    /** What was done in a phase. */
    private static final class Phase {
        final double perSecond;
        /** CPU time per scope of threads that do not work. */
        final double otherNanos;
        /** Times of short runs, per scope. */
        final double[] runs;

        Phase(long scopes, long nanos, long otherCpu, double[] runs) {
            perSecond = scopes * 1e9 / nanos;
            otherNanos = (double) otherCpu / scopes;
            this.runs = runs;
        }
    }

    private void compare(int pairs) {
        for (int i = 0; i < WARM_UP_PHASES; i++) {
            phase(i % 2 == 0);
        }
        double[] throughput = new double[pairs];
        double[] rate = new double[pairs];
        double[] others = new double[pairs];
        double[] runsObserved = {};
        double[] runsWithout = {};
        Phase before = phase(false);
        for (int i = 0; i < pairs; i++) {
            Phase observed = phase(true);
            Phase after = phase(false);
            rate[i] = (before.perSecond + after.perSecond) / 2;
            throughput[i] = observed.perSecond / rate[i];
            others[i] = observed.otherNanos - (before.otherNanos + after.otherNanos) / 2;
            runsObserved = concat(runsObserved, observed.runs);
            runsWithout = concat(runsWithout, after.runs);
            before = after;
        }
        print("scopes per second, none observed", rate, "%.0f");
        print("throughput, observed / none", throughput, "%.4f");
        print("CPU of other threads per scope (ns)", others, "%.1f");
        print("a scope that is observed (ns)", runsObserved, "%.1f");
        print("a scope that is not (ns)", runsWithout, "%.1f");
        System.out.println("entries: " + got + ", dropped: " + dropped);
    }

    private void alone(int phases, boolean observedBefore) {
        for (int i = 0; i < WARM_UP_PHASES; i++) {
            phase(observedBefore && i % 2 == 0);
        }
        double[] runs = {};
        for (int i = 0; i < phases; i++) {
            runs = concat(runs, phase(false).runs);
        }
        print("a scope (ns)", runs, "%.1f");
    }

    private Phase phase(boolean observed) {
        if (observed) {
            observer.observe(EntryType.CONTEXT);
        }
        long scopes = scopes();
        long start = System.nanoTime();
        long cpu = otherCpu();
        double[] runs = {};
        for (Worker worker : workers) {
            worker.runs = new double[Worker.MAX_RUNS];
        }
        while (System.nanoTime() - start < phaseNanos) {
            LockSupport.parkNanos(phaseNanos - (System.nanoTime() - start));
        }
        for (Worker worker : workers) {
            runs = concat(runs, worker.runs);
            worker.runs = new double[0];
        }
        long cpuAfter = otherCpu();
        long end = System.nanoTime();
        long scopesAfter = scopes();
        observer.disconnect();
        double[] taken = Arrays.stream(runs).filter(run -> run > 0).toArray();
        return new Phase(scopesAfter - scopes, end - start, cpuAfter - cpu, taken);
    }

    private long scopes() {
        return Arrays.stream(workers).mapToLong(worker -> worker.done).sum();
    }

    private long otherCpu() {
        long working = 0;
        for (Worker worker : workers) {
            working += CLOCKS.getThreadCpuTime(worker.getId());
        }
        return SYSTEM.getProcessCpuTime() - working;
    }

    private static double[] concat(double[] some, double[] more) {
        double[] all = Arrays.copyOf(some, some.length + more.length);
        System.arraycopy(more, 0, all, some.length, more.length);
        return all;
    }

    /** By the value that half the runs exceed, with its 95 % interval. */
    private static void print(String what, double[] values, String format) {
        Arrays.sort(values);
        int n = values.length;
        int low = Math.max(0, (int) Math.floor(n / 2.0 - 0.98 * Math.sqrt(n)));
        System.out.println(String.format(
                Locale.ROOT,
                "%-36s " + format + " (" + format + " to " + format + "), twentieth " + format,
                what,
                values[n / 2],
                values[low],
                values[n - 1 - low],
                values[n / 20]));
    }

    /** Does the work of requests. */
    private static final class Worker extends Thread {
        static final int MAX_RUNS = 10_000;
        private static final int SCOPES_OF_RUN = 200;

        volatile long done;
        /** Where to note the times of runs, as long as there is room. */
        volatile double[] runs = {};

        private final int rounds;
        private final long[] table = new long[1_024];
        private StringBuilder text;

        Worker(int rounds) {
            super("worker");
            this.rounds = rounds;
            setDaemon(true);
        }

        @Override
        public void run() {
            int noted = 0;
            double[] last = {};
            while (true) {
                double[] present = runs;
                noted = present == last ? noted : 0;
                last = present;
                long start = System.nanoTime();
                for (int i = 0; i < SCOPES_OF_RUN; i++) {
                    serveInScope(i);
                }
                long nanos = System.nanoTime() - start;
                done += SCOPES_OF_RUN;
                if (noted < present.length && present == runs) {
                    present[noted++] = (double) nanos / SCOPES_OF_RUN;
                }
            }
        }

        private void serveInScope(int request) {
            String route = ROUTES[request & 3];
            try (RecordingContext scope = RecordingContext.where(ROUTE, route).build()) {
                serve(route, request);
            }
        }

        /** Numbers, memory, and some garbage. */
        private void serve(String route, int request) {
            text = new StringBuilder(64).append(route).append('?').append(request);
            long hash = request;
            for (int i = 0; i < rounds; i++) {
                hash = (hash ^ text.charAt(i % text.length())) * 0x9e37_79b9_7f4a_7c15L;
                table[(int) (hash >>> 54)] += hash;
            }
        }
    }
}
