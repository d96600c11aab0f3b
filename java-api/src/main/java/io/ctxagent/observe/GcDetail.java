package io.ctxagent.observe;

import java.time.Duration;
import java.util.Set;

/**
 * What is known of a garbage collection.
 *
 * <p>Threads: any, as it does not change. Without the agent: {@link #pause} and the times of the
 * entry are in milliseconds, as the VM tells them; so they are of collectors whose pauses JVMTI
 * does not post (ZGC, Shenandoah).
 *
 * @since 0.1
 */
public final class GcDetail {
    /** What of the heap was collected. */
    public enum Kind {
        /** Young objects. */
        MINOR,
        /** All objects. */
        MAJOR,
        /** The VM does not say. */
        UNKNOWN
    }

    /** What is special about a collection. */
    public enum Flag {
        /** The application went on meanwhile. */
        CONCURRENT,
        /** Somebody asked for it, by {@link System#gc} or a tool. */
        FORCED,
        /** There was no room for an object. */
        ALLOCATION_FAILURE
    }

    private final Kind kind;
    private final Set<Flag> flags;
    private final String cause;
    private final long number;
    private final long pauseNanos;

    GcDetail(Kind kind, Set<Flag> flags, String cause, long number, long pauseNanos) {
        this.kind = kind;
        this.flags = flags;
        this.cause = cause;
        this.number = number;
        this.pauseNanos = pauseNanos;
    }

    /**
     * What was collected.
     *
     * @return the kind, not {@code null}
     */
    public Kind kind() {
        return kind;
    }

    /**
     * What is special about it.
     *
     * @return the flags, not {@code null} and not to be changed
     */
    public Set<Flag> flags() {
        return flags;
    }

    /**
     * Why the VM began it, in its own words: {@code G1 Evacuation Pause}.
     *
     * @return the cause, not {@code null}
     */
    public String cause() {
        return cause;
    }

    /**
     * Its number among those of its collector.
     *
     * @return the number, from 1
     */
    public long number() {
        return number;
    }

    /**
     * How long the application stood still; zero for a concurrent one, whose pauses are entries of
     * their own where the VM tells of them.
     *
     * @return the time, not {@code null}
     */
    public Duration pause() {
        return Duration.ofNanos(pauseNanos);
    }

    /**
     * Kind, cause and flags, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return kind + " " + cause + " " + flags;
    }
}
