package io.ctxagent.observe;

import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObservedScope;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * Something that happened: a mark, a call, a collection.
 *
 * <p>Threads: any, as it does not change. Without the agent: its context is empty.
 *
 * @since 0.1
 */
public final class Entry {
    private static final EntryType[] TYPES = EntryType.values();
    /** One moment by both clocks. */
    private static final Instant NOW = Instant.now();

    private static final long NOW_NANOS = System.nanoTime();

    private final ObservedEntry entry;

    Entry(ObservedEntry entry) {
        this.entry = entry;
    }

    /**
     * Its name: that of the mark, measure or function, or of the garbage collector.
     *
     * @return the name, not {@code null}, at most 255 characters
     */
    public String name() {
        return entry.name;
    }

    /**
     * What it is about.
     *
     * @return the type, not {@code null}
     */
    public EntryType type() {
        return TYPES[entry.type];
    }

    /**
     * When it began, on the clock of {@link System#nanoTime}.
     *
     * @return nanoseconds
     */
    public long startNanos() {
        return entry.startNanos;
    }

    /**
     * When it began, by the wall clock as it was at the first entry in this VM.
     *
     * @return the time, not {@code null}
     */
    public Instant startTime() {
        return NOW.plusNanos(entry.startNanos - NOW_NANOS);
    }

    /**
     * How long it lasted; zero for a mark.
     *
     * @return the time, not {@code null}
     */
    public Duration duration() {
        return Duration.ofNanos(entry.durationNanos);
    }

    /**
     * What its type has besides, see {@link EntryType}.
     *
     * @return the detail, or {@code null} if there is none
     */
    public Object detail() {
        return entry instanceof ObservedScope
                ? new ContextDetail((ObservedScope) entry)
                : entry.detail;
    }

    /**
     * The attributes of the thread at its end; of a connect or look-up at its begin.
     *
     * @return names and values, not {@code null} and not to be changed; empty if the thread had no
     *     context, and for a collection
     */
    public Map<String, String> context() {
        return entry.context();
    }

    /**
     * Type, name, length and context, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return type().name().toLowerCase() + " " + name() + " " + duration() + " " + context();
    }
}
