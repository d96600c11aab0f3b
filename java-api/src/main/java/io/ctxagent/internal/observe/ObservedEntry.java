package io.ctxagent.internal.observe;

import java.util.Map;

/** What a producer tells about something that happened. Immutable, but for its detail. */
public final class ObservedEntry {
    /** Number of its type. */
    public final int type;

    public final String name;
    /** As {@link System#nanoTime} tells it. */
    public final long startNanos;

    public final long durationNanos;
    /** What a type has besides; may be {@code null}. */
    public final Object detail;
    /** The attributes of the thread, empty if it had none. */
    public final Map<String, String> context;

    public ObservedEntry(
            int type,
            String name,
            long startNanos,
            long durationNanos,
            Object detail,
            Map<String, String> context) {
        this.type = type;
        this.name = name;
        this.startNanos = startNanos;
        this.durationNanos = durationNanos;
        this.detail = detail;
        this.context = context;
    }
}
