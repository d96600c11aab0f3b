package io.ctxagent.internal.observe;

import java.util.Map;
import java.util.function.Supplier;

/** What a producer tells about something that happened. Immutable, but for its detail. */
public class ObservedEntry {
    /** Number of its type. */
    public final int type;

    public final String name;
    /** As {@link System#nanoTime} tells it. */
    public final long startNanos;

    public final long durationNanos;
    /** What a type has besides; may be {@code null}. */
    public final Object detail;
    /** Makes the attributes of the thread. */
    private final Supplier<Map<String, String>> context;

    /** {@code context}: {@code null} if there is none. */
    public ObservedEntry(
            int type,
            String name,
            long startNanos,
            long durationNanos,
            Object detail,
            Supplier<Map<String, String>> context) {
        this.type = type;
        this.name = name;
        this.startNanos = startNanos;
        this.durationNanos = durationNanos;
        this.detail = detail;
        this.context = context;
    }

    /** The attributes of the thread by name, not to be changed; empty if it had none. */
    public Map<String, String> context() {
        return context == null ? Map.of() : context.get();
    }
}
