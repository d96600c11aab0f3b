package io.ctxagent.internal.observe;

import java.util.Map;
import java.util.function.Supplier;

/** A scope that closed. */
public final class ObservedScope extends ObservedEntry {
    /** Taken of its thread while it was open. */
    public final int samples;
    /** What its thread allocated; -1: not known. */
    public final long allocatedBytes;
    /** What its thread used; -1: not known. */
    public final long cpuNanos;

    ObservedScope(
            int type,
            String name,
            long startNanos,
            long durationNanos,
            int samples,
            long allocatedBytes,
            long cpuNanos,
            Supplier<Map<String, String>> context) {
        super(type, name, startNanos, durationNanos, null, context);
        this.samples = samples;
        this.allocatedBytes = allocatedBytes;
        this.cpuNanos = cpuNanos;
    }
}
