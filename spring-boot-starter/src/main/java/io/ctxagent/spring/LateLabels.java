package io.ctxagent.spring;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;

/**
 * Labels that became known while their request ran ({@code ctxagent.LateLabel}): the samples that
 * the thread has from before get them, too.
 */
final class LateLabels {
    static final String EVENT = "ctxagent.LateLabel";

    /** Those of the longest recordings are some thousand; more are not kept. */
    private static final int MAX_LABELS = 100_000;
    /** Labels that one sample can get, as for {@code ctxjfr}. */
    private static final int MAX_OF_SAMPLE = 16;

    private record Label(long first, long last, String attribute, String before, String value) {}

    private final Map<Long, List<Label>> byThread = new HashMap<>();
    private long count;

    void add(RecordedEvent event) {
        RecordedThread thread = event.getThread();
        String before = event.getString("before");
        if (thread != null && before != null && count++ < MAX_LABELS) {
            byThread.computeIfAbsent(thread.getId(), id -> new ArrayList<>())
                    .add(new Label(
                            Samples.nanos(event.getStartTime()),
                            Samples.nanos(event.getEndTime()),
                            event.getString("attribute"),
                            before,
                            event.getString("value")));
        }
    }

    /** All are there. */
    void sort() {
        Comparator<Label> byTime =
                Comparator.comparingLong(Label::first).thenComparingLong(Label::last);
        byThread.values().forEach(labels -> labels.sort(byTime));
    }

    /** How many are missing. */
    long leftOut() {
        return Math.max(0, count - MAX_LABELS);
    }

    /** The value that a thread's sample has in the end, instead of the one that it came with. */
    String better(long thread, long nanos, String attribute, String value) {
        List<Label> labels = value == null ? null : byThread.get(thread);
        if (labels == null) {
            return value;
        }
        int begun = begun(labels, nanos);
        String best = value;
        for (Label label : labels.subList(Math.max(0, begun - MAX_OF_SAMPLE), begun)) {
            if (nanos <= label.last
                    && label.attribute.equals(attribute)
                    && label.before.equals(best)) {
                best = label.value;
            }
        }
        return best;
    }

    /** How many of them have begun at this moment. */
    private static int begun(List<Label> labels, long nanos) {
        int low = 0;
        int high = labels.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (labels.get(middle).first <= nanos) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
