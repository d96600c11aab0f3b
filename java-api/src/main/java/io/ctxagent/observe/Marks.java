package io.ctxagent.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.observe.CurrentContext;
import io.ctxagent.internal.observe.EntryBatch;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;
import io.ctxagent.internal.observe.Timeline;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;

/**
 * Moments and spans of time that the application notes: {@code Marks.mark("loaded")}, later {@code
 * Marks.measure("warm-up", "loaded")}. The newest 4,096 of each are kept, whether or not somebody
 * observes them, until they are cleared; a recording has all of them, as {@code ctxagent.Mark}.
 *
 * <p>Threads: any; all share the names. Cost: less than a microsecond, and a lock. Names are cut to
 * 255 characters. Without the agent: as with it, but without contexts.
 *
 * @since 0.1
 */
public final class Marks {
    private static final int MAX_NAME = 255;

    /** On the clock of entries. The system tells it in hundredths of a second. */
    static final long PROCESS_START = processStart();

    private static final Timeline MARKS = new Timeline();
    private static final Timeline MEASURES = new Timeline();

    private Marks() {}

    private static long processStart() {
        Instant now = Instant.now();
        Instant start = ProcessHandle.current().info().startInstant().orElse(now);
        return System.nanoTime() - start.until(now, ChronoUnit.NANOS);
    }

    /** What is kept of a type, {@code null} if nothing is. */
    static Timeline kept(EntryType type) {
        switch (type) {
            case MARK:
                return MARKS;
            case MEASURE:
                return MEASURES;
            default:
                return null;
        }
    }

    /**
     * Notes this moment.
     *
     * @param name a name for {@link #measure(String, String)} and for people, not {@code null}
     * @return the entry, not {@code null}
     */
    public static Entry mark(String name) {
        return mark(name, null);
    }

    /**
     * Notes this moment with something besides.
     *
     * @param name a name, not {@code null}
     * @param detail what {@link Entry#detail} returns, or {@code null}; kept as long as the mark
     * @return the entry, not {@code null}
     */
    public static Entry mark(String name, Object detail) {
        return add(EntryType.MARK, fitting(name), System.nanoTime(), 0, detail);
    }

    /**
     * Notes the time since the process started.
     *
     * @param name a name, not {@code null}
     * @return the entry, not {@code null}
     */
    public static Entry measure(String name) {
        long length = System.nanoTime() - PROCESS_START;
        return add(EntryType.MEASURE, fitting(name), PROCESS_START, length, null);
    }

    /**
     * Notes the time since a mark.
     *
     * @param name a name, not {@code null}
     * @param startMark the name of a mark; the last one of that name counts; not {@code null}
     * @return the entry, or {@code null} if there is no such mark: then nothing is noted
     */
    public static Entry measure(String name, String startMark) {
        long now = System.nanoTime();
        ObservedEntry start = MARKS.newest(fitting(startMark));
        String fitting = fitting(name);
        return start == null
                ? null
                : add(
                        EntryType.MEASURE,
                        fitting,
                        start.startNanos,
                        now - start.startNanos,
                        start.detail);
    }

    /**
     * Notes the time between two marks.
     *
     * @param name a name, not {@code null}
     * @param startMark the name of a mark; the last one of that name counts; not {@code null}
     * @param endMark the same for the end, not {@code null}
     * @return the entry, whose length is negative if the marks are the other way round; {@code
     *     null} if there is no such mark: then nothing is noted
     */
    public static Entry measure(String name, String startMark, String endMark) {
        ObservedEntry start = MARKS.newest(fitting(startMark));
        ObservedEntry end = MARKS.newest(fitting(endMark));
        String fitting = fitting(name);
        if (start == null || end == null) {
            return null;
        }
        long length = end.startNanos - start.startNanos;
        return add(EntryType.MEASURE, fitting, start.startNanos, length, start.detail);
    }

    private static Entry add(
            EntryType type, String name, long startNanos, long durationNanos, Object detail) {
        ObservedEntry entry = new ObservedEntry(
                type.ordinal(), name, startNanos, durationNanos, detail, CurrentContext.copy());
        kept(type).add(entry);
        Agent agent = Bridge.agent();
        if (agent != null) {
            agent.mark(name, startNanos, startNanos + Math.max(0, durationNanos));
        }
        if (ObserverHub.isObserved(type.ordinal())) {
            ObserverHub.publish(entry);
        }
        return new Entry(entry);
    }

    static String fitting(String name) {
        Objects.requireNonNull(name, "the name is null");
        if (name.length() <= MAX_NAME) {
            return name;
        }
        boolean splitsPair = Character.isHighSurrogate(name.charAt(MAX_NAME - 1));
        return name.substring(0, splitsPair ? MAX_NAME - 1 : MAX_NAME);
    }

    /**
     * The marks and measures that are kept.
     *
     * @return the entries by the time at which they began, not {@code null}, not to be changed
     */
    public static List<Entry> getEntries() {
        List<ObservedEntry> all = MARKS.all();
        all.addAll(MEASURES.all());
        return EntryList.sorted(EntryBatch.of(all));
    }

    /** Forgets all marks. */
    public static void clearMarks() {
        MARKS.clear();
    }

    /**
     * Forgets the marks of a name.
     *
     * @param name the name, not {@code null}
     */
    public static void clearMarks(String name) {
        MARKS.clear(fitting(name));
    }

    /** Forgets all measures. */
    public static void clearMeasures() {
        MEASURES.clear();
    }

    /**
     * Forgets the measures of a name.
     *
     * @param name the name, not {@code null}
     */
    public static void clearMeasures(String name) {
        MEASURES.clear(fitting(name));
    }
}
