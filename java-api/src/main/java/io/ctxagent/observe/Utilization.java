package io.ctxagent.observe;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * How busy some threads are: their CPU time, and the time in which they used none; the counterpart
 * of Node's {@code eventLoopUtilization}. A reading tells it since the threads began; {@link
 * #since} between two readings.
 *
 * <p>Threads: any; a reading does not change. Cost: a microsecond for each thread of the VM.
 * Without the agent: as with it. Needs the module {@code java.management}.
 *
 * @since 0.1
 */
public final class Utilization {
    /** The group to which the VM's carriers belong. */
    private static final String CARRIERS = "CarrierThreads";

    private final long atNanos;
    /** CPU time by the id of the thread. */
    private final Map<Long, Long> cpuNanos;

    private final long activeNanos;
    private final long elapsedNanos;

    private Utilization(
            long atNanos, Map<Long, Long> cpuNanos, long activeNanos, long elapsedNanos) {
        this.atNanos = atNanos;
        this.cpuNanos = cpuNanos;
        this.activeNanos = activeNanos;
        this.elapsedNanos = elapsedNanos;
    }

    /**
     * Reads the threads of a pool.
     *
     * @param prefix how their names begin, {@code pool-1-thread-}; not {@code null}
     * @return the reading, not {@code null}
     */
    public static Utilization ofThreads(String prefix) {
        Objects.requireNonNull(prefix, "the prefix is null");
        return read(thread -> thread.getName().startsWith(prefix));
    }

    /**
     * Reads the threads that carry virtual threads. One that waits within a native method or a
     * monitor is idle here, though its carrier runs nothing else.
     *
     * @return the reading, not {@code null}; of no thread before JDK 21
     */
    public static Utilization ofCarriers() {
        return read(thread -> {
            ThreadGroup group = thread.getThreadGroup();
            return group != null && group.getName().equals(CARRIERS);
        });
    }

    private interface Wanted {
        boolean is(Thread thread);
    }

    private static Utilization read(Wanted wanted) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long now = System.nanoTime();
        Map<Long, Long> cpu = new HashMap<>();
        long active = 0;
        for (Thread thread : all()) {
            if (thread != null && wanted.is(thread)) {
                @SuppressWarnings("deprecation") // threadId() is not in 17
                long id = thread.getId();
                long nanos = threads.getThreadCpuTime(id);
                if (nanos >= 0) {
                    cpu.put(id, nanos);
                    active += nanos;
                }
            }
        }
        long uptime = 1_000_000 * ManagementFactory.getRuntimeMXBean().getUptime();
        return new Utilization(now, cpu, active, Math.max(active, uptime * cpu.size()));
    }

    private static Thread[] all() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] found = new Thread[64];
        while (root.enumerate(found, true) == found.length) {
            found = new Thread[2 * found.length];
        }
        return found;
    }

    /**
     * What happened since an earlier reading of the same threads. One that has ended meanwhile does
     * not count.
     *
     * @param earlier the earlier reading, not {@code null}
     * @return the difference, not {@code null}
     */
    public Utilization since(Utilization earlier) {
        long active = 0;
        for (Map.Entry<Long, Long> thread : cpuNanos.entrySet()) {
            active += thread.getValue() - earlier.cpuNanos.getOrDefault(thread.getKey(), 0L);
        }
        long elapsed = (atNanos - earlier.atNanos) * cpuNanos.size();
        return new Utilization(atNanos, cpuNanos, active, Math.max(active, elapsed));
    }

    /**
     * Threads that were read.
     *
     * @return their number
     */
    public int threads() {
        return cpuNanos.size();
    }

    /**
     * The CPU time of all threads together.
     *
     * @return the time, not {@code null}
     */
    public Duration active() {
        return Duration.ofNanos(activeNanos);
    }

    /**
     * The time in which they used no CPU.
     *
     * @return the time, not {@code null}
     */
    public Duration idle() {
        return Duration.ofNanos(elapsedNanos - activeNanos);
    }

    /**
     * The share of time in which they used a CPU.
     *
     * @return 0 to 1; 0 if there is no thread
     */
    public double utilization() {
        return elapsedNanos == 0 ? 0 : (double) activeNanos / elapsedNanos;
    }

    /**
     * The share, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return String.format("%.1f %% of %d threads", 100 * utilization(), threads());
    }
}
