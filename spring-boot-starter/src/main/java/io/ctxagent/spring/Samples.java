package io.ctxagent.spring;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import jdk.jfr.Experimental;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;

/**
 * The CPU samples of a recording of ours by the values of attributes, counted as {@code ctxjfr
 * report} does. Memory is bounded, whatever the recording holds.
 */
final class Samples {
    private static final String EVENT = "jdk.ExecutionSample";
    /** The columns of attributes lie between these fields; those without a name yet are marked. */
    private static final String BEFORE_COLUMNS = "contextLength";

    private static final String AFTER_COLUMNS = "contextId";
    /** Distinct combinations of values that are told apart. */
    private static final int MAX_GROUPS = 10_000;

    private static final long DEFAULT_INTERVAL_NANOS = 10_000_000;

    final Map<List<String>, Sum> groups = new HashMap<>();
    /** Samples of further combinations. */
    final Sum overflow = new Sum();

    private final List<String> keys;
    private final LateLabels late = new LateLabels();
    private List<String> attributes = List.of();
    private long typeOfAttributes = -1;
    private long intervalNanos = DEFAULT_INTERVAL_NANOS;
    private Throwable failure;

    private Samples(List<String> keys) {
        this.keys = keys;
    }

    static Samples read(Path file, List<String> keys) throws IOException {
        Samples samples = new Samples(keys);
        // Labels come after the samples that they are for.
        samples.read(
                file,
                Map.of(
                        LateLabels.EVENT,
                        samples.late::add,
                        "jdk.ActiveSetting",
                        samples::readSetting));
        samples.late.sort();
        samples.read(file, Map.of(EVENT, samples::add));
        return samples;
    }

    /** Names of the recording's attributes; none where it has no sample. */
    List<String> attributes() {
        return attributes;
    }

    long intervalNanos() {
        return intervalNanos;
    }

    /** Late labels that were too many. */
    long lateLabelsLeftOut() {
        return late.leftOut();
    }

    private void read(Path file, Map<String, Consumer<RecordedEvent>> actions) throws IOException {
        try (EventStream stream = EventStream.openFile(file)) {
            stream.setOrdered(false);
            stream.onError(error -> failure = error);
            actions.forEach(stream::onEvent);
            stream.start();
        }
        if (failure != null) {
            throw new IOException("the dump cannot be read: " + failure, failure);
        }
    }

    private void readSetting(RecordedEvent setting) {
        if ("interval".equals(setting.getString("name"))) {
            intervalNanos = Long.parseLong(setting.getString("value"));
        }
    }

    private void add(RecordedEvent event) {
        if (event.getEventType().getId() != typeOfAttributes) {
            typeOfAttributes = event.getEventType().getId();
            attributes = columns(event);
        }
        String[] values = new String[keys.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(event, keys.get(i));
        }
        group(Arrays.asList(values)).add(1, Integer.toUnsignedLong(event.getInt("weight")));
    }

    private static List<String> columns(RecordedEvent event) {
        List<ValueDescriptor> fields = event.getFields();
        List<String> names = fields.stream().map(ValueDescriptor::getName).toList();
        return fields
                .subList(names.indexOf(BEFORE_COLUMNS) + 1, names.indexOf(AFTER_COLUMNS))
                .stream()
                .filter(column -> column.getAnnotation(Experimental.class) == null)
                .map(ValueDescriptor::getName)
                .toList();
    }

    private String value(RecordedEvent event, String key) {
        if (!attributes.contains(key)) {
            return null;
        }
        RecordedThread thread = event.getThread("sampledThread");
        String value = event.getString(key);
        return thread == null
                ? value
                : late.better(thread.getId(), nanos(event.getStartTime()), key, value);
    }

    private Sum group(List<String> values) {
        Sum known = groups.get(values);
        if (known == null && groups.size() == MAX_GROUPS) {
            return overflow;
        }
        return known != null ? known : groups.computeIfAbsent(values, key -> new Sum());
    }

    static long nanos(Instant moment) {
        return TimeUnit.SECONDS.toNanos(moment.getEpochSecond()) + moment.getNano();
    }
}
