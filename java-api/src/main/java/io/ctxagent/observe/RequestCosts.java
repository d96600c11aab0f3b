package io.ctxagent.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.block.SampleCount;
import java.time.Duration;
import java.util.Locale;

/**
 * What a request has cost so far, with how certain that is: for a header of its response or a line
 * of the log.
 *
 * <pre>{@code
 * RequestCosts begun = RequestCosts.begin();
 * byte[] answer = work(request);
 * response.setHeader("Server-Timing", begun.soFar().serverTiming());
 * }</pre>
 *
 * <p>Of the thread that began it, not of tasks that it gave to others. On a platform thread CPU
 * time and allocation are counted by the VM. Of a virtual thread nobody counts them: its CPU time
 * is estimated from the samples of a recording, within the scope of a context that was open from
 * the begin on; it is not known without one, and where the recording takes {@code wall=} samples
 * too.
 *
 * <p>Threads: any; what was read does not change. Cost: some ten microseconds for each request.
 * Without the agent: as with it, but of virtual threads only the elapsed time is known. Without the
 * module {@code jdk.management} the VM counts nothing.
 *
 * @since 0.1
 */
public final class RequestCosts {
    /** Of a normal distribution: 95 % lie within so many deviations. */
    private static final double DEVIATIONS = 1.96;

    private static final long NOT_KNOWN = -1;

    private final Thread thread;
    private final long startNanos;
    /** Of the thread at the begin. */
    private final long cpuBefore;

    private final long allocatedBefore;
    /** {@code null}: there was no context to count them. */
    private final SampleCount samples;

    private final long elapsedNanos;
    private final long cpuNanos;
    private final long minCpuNanos;
    private final long maxCpuNanos;
    private final long allocatedBytes;

    private RequestCosts() {
        thread = Thread.currentThread();
        cpuBefore = ThreadCounters.cpuNanos();
        allocatedBefore = ThreadCounters.allocatedBytes();
        samples = cpuBefore == NOT_KNOWN ? SampleCount.begin() : null;
        startNanos = System.nanoTime();
        elapsedNanos = 0;
        cpuNanos = 0;
        minCpuNanos = 0;
        maxCpuNanos = 0;
        allocatedBytes = 0;
    }

    private RequestCosts(RequestCosts begun) {
        thread = begun.thread;
        startNanos = begun.startNanos;
        cpuBefore = begun.cpuBefore;
        allocatedBefore = begun.allocatedBefore;
        samples = begun.samples;
        elapsedNanos = System.nanoTime() - startNanos;
        boolean isSame = Thread.currentThread() == thread;
        long allocated = isSame ? ThreadCounters.allocatedBytes() : NOT_KNOWN;
        allocatedBytes =
                allocated < 0 || allocatedBefore < 0 ? NOT_KNOWN : allocated - allocatedBefore;
        long cpu = isSame ? ThreadCounters.cpuNanos() : NOT_KNOWN;
        if (cpu >= 0 && cpuBefore >= 0) {
            cpuNanos = cpu - cpuBefore;
            minCpuNanos = cpuNanos;
            maxCpuNanos = cpuNanos;
            return;
        }
        Agent agent = Bridge.agent();
        long perSample = samples == null || agent == null ? 0 : agent.sampleNanos();
        long count = perSample > 0 && isSame ? samples.soFar() : NOT_KNOWN;
        cpuNanos = count < 0 ? NOT_KNOWN : count * perSample;
        minCpuNanos = count < 0 ? 0 : bound(count, perSample, -1);
        maxCpuNanos = count < 0 ? elapsedNanos : bound(count, perSample, 1);
    }

    /**
     * An end of the interval in which the mean of that many random events lies with a probability
     * of 95 %.
     */
    static long bound(long count, long perSample, int side) {
        double variance = count + DEVIATIONS * DEVIATIONS / 4;
        double bound =
                count + DEVIATIONS * DEVIATIONS / 2 + side * DEVIATIONS * Math.sqrt(variance);
        return Math.round(Math.max(0, bound) * perSample);
    }

    /**
     * Begins to count for the current thread.
     *
     * @return the costs of nothing, to be asked for those {@link #soFar}; not {@code null}
     */
    public static RequestCosts begin() {
        return new RequestCosts();
    }

    /**
     * What the thread has used since {@link #begin}, to be called by that thread; on another one
     * only the elapsed time is known.
     *
     * @return the costs, not {@code null}
     */
    public RequestCosts soFar() {
        return new RequestCosts(this);
    }

    /**
     * The time from begin to reading.
     *
     * @return the time, not {@code null}
     */
    public Duration elapsed() {
        return Duration.ofNanos(elapsedNanos);
    }

    /**
     * The CPU time, or its estimate. An estimate may be more than the elapsed time, so that the sum
     * over many requests is right.
     *
     * @return the time; {@code null} if it is not known
     */
    public Duration cpu() {
        return cpuNanos == NOT_KNOWN ? null : Duration.ofNanos(cpuNanos);
    }

    /**
     * The CPU time at least, with a probability of 97.5 %.
     *
     * @return the time, 0 if nothing is known; not {@code null}
     */
    public Duration minCpu() {
        return Duration.ofNanos(minCpuNanos);
    }

    /**
     * The CPU time at most, with a probability of 97.5 %.
     *
     * @return the time, that elapsed if nothing is known; not {@code null}
     */
    public Duration maxCpu() {
        return Duration.ofNanos(maxCpuNanos);
    }

    /**
     * The time in which the thread used no CPU: it waited for something, or for a CPU.
     *
     * @return the time; {@code null} if it is not known
     */
    public Duration waiting() {
        return cpuNanos == NOT_KNOWN ? null : Duration.ofNanos(waitingNanos());
    }

    private long waitingNanos() {
        return Math.max(0, elapsedNanos - cpuNanos);
    }

    /**
     * What the thread has allocated.
     *
     * @return bytes; -1 if it is not known
     */
    public long allocatedBytes() {
        return allocatedBytes;
    }

    /**
     * The value of a header {@code Server-Timing}, in milliseconds, which browsers show: {@code
     * total;dur=12.500, cpu;dur=4.250, wait;dur=8.250, alloc;desc="10240 B"}. An estimate has its
     * interval: {@code cpu;dur=20.000;desc="5.485 to 72.931 ms"}. What is not known is left out.
     *
     * @return the text, not {@code null}
     */
    public String serverTiming() {
        StringBuilder text = new StringBuilder("total").append(dur(elapsedNanos));
        if (cpuNanos != NOT_KNOWN) {
            text.append(", cpu").append(dur(cpuNanos));
            if (minCpuNanos != maxCpuNanos) {
                text.append(";desc=\"")
                        .append(millis(minCpuNanos))
                        .append(" to ")
                        .append(millis(maxCpuNanos))
                        .append(" ms\"");
            }
            text.append(", wait").append(dur(waitingNanos()));
        }
        if (allocatedBytes != NOT_KNOWN) {
            text.append(", alloc;desc=\"").append(allocatedBytes).append(" B\"");
        }
        return text.toString();
    }

    private static String dur(long nanos) {
        return ";dur=" + millis(nanos);
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / 1e6);
    }

    /**
     * As {@link #serverTiming}, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return serverTiming();
    }
}
