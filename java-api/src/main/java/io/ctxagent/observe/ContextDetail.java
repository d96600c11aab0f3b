package io.ctxagent.observe;

import io.ctxagent.internal.observe.ObservedScope;
import java.time.Duration;

/**
 * What is known of a scope besides its length and its attributes.
 *
 * <p>Threads: any, as it does not change. Without the agent: there is none.
 *
 * @since 0.1
 */
public final class ContextDetail {
    private final ObservedScope scope;

    ContextDetail(ObservedScope scope) {
        this.scope = scope;
    }

    /**
     * Samples that a recording took of the thread while the scope was open, those of inner scopes
     * among them.
     *
     * @return their number; 0 if nothing records
     */
    public int samples() {
        return scope.samples;
    }

    /**
     * What the thread has allocated while the scope was open, some 160 bytes for each inner scope
     * that is observed among that: 9 KiB at every 128th one.
     *
     * @return bytes; -1 on a virtual thread, and in a VM without the module {@code jdk.management}:
     *     nobody counts it there
     */
    public long allocatedBytes() {
        return scope.allocatedBytes;
    }

    /**
     * CPU time of the thread while the scope was open. Of a thread that opens more than 64 scopes
     * at once, or 10,000 in a second, not that of each is measured; of 2,000 where many more come.
     *
     * @return the time; {@code null} if it is not known: where allocation is not, too
     */
    public Duration cpu() {
        return scope.cpuNanos < 0 ? null : Duration.ofNanos(scope.cpuNanos);
    }

    /**
     * The time in which the thread used no CPU: it waited for something, or for a CPU.
     *
     * @return the time; {@code null} if it is not known, as {@link #cpu}
     */
    public Duration waiting() {
        return scope.cpuNanos < 0
                ? null
                : Duration.ofNanos(Math.max(0, scope.durationNanos - scope.cpuNanos));
    }

    /**
     * Samples and what else is known, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return scope.samples
                + " samples"
                + (scope.allocatedBytes < 0 ? "" : ", " + scope.allocatedBytes + " bytes")
                + (scope.cpuNanos < 0 ? "" : ", CPU " + cpu() + ", waited " + waiting());
    }
}
