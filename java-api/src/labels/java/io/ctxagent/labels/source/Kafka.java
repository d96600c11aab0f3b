package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;
import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Consumers of Kafka: who iterates over records works for their topic, from the first one until the
 * iterator has no more. Where an iteration ends before that, the consumer's next poll ends it.
 */
public final class Kafka {
    private static final int SOURCE = Labels.KAFKA;
    /** The scope of the iteration that the thread is in. */
    private static final ThreadLocal<Object> scopes = new ThreadLocal<>();

    private Kafka() {}

    /** The consumer asks for the next records: those before are done. */
    public static void polls() {
        if (Labels.isUsed(SOURCE)) {
            end();
        }
    }

    /** In place of {@code Map.get}, for the records of one partition. */
    public static Object ofPartition(Map<?, ?> records, Object partition) {
        return labelled(records.get(partition));
    }

    /** The lists of records of several partitions. */
    public static Object ofPartitions(Object lists) {
        return Labels.isOn(SOURCE) && lists instanceof Iterable
                ? new Lists((Iterable<?>) lists)
                : lists;
    }

    private static Object labelled(Object records) {
        return Labels.isOn(SOURCE) && records instanceof List
                ? new Records((List<?>) records)
                : records;
    }

    private static void begin(Object record) {
        end();
        try {
            // The name that OpenTelemetry gives to such a span.
            String operation = "process " + ((ConsumerRecord<?, ?>) record).topic();
            Object scope = Labels.open(SOURCE, operation);
            if (scope != null) {
                scopes.set(scope);
            }
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }

    private static void end() {
        Object scope = scopes.get();
        if (scope != null) {
            scopes.remove();
            Labels.close(SOURCE, scope);
        }
    }

    private static final class Lists implements Iterable<Object> {
        private final Iterable<?> lists;

        Lists(Iterable<?> lists) {
            this.lists = lists;
        }

        @Override
        public Iterator<Object> iterator() {
            return new Iteration(lists.iterator(), false);
        }
    }

    /** The records of one partition, and so of one topic. */
    private static final class Records extends AbstractList<Object> implements RandomAccess {
        private final List<?> records;

        Records(List<?> records) {
            this.records = records;
        }

        @Override
        public Object get(int index) {
            return records.get(index);
        }

        @Override
        public int size() {
            return records.size();
        }

        @Override
        public Iterator<Object> iterator() {
            return new Iteration(records.iterator(), true);
        }
    }

    /** Over records, or over lists of them. */
    private static final class Iteration implements Iterator<Object> {
        private final Iterator<?> iterator;
        private final boolean hasRecords;
        private boolean isBegun;

        Iteration(Iterator<?> iterator, boolean hasRecords) {
            this.iterator = iterator;
            this.hasRecords = hasRecords;
        }

        @Override
        public boolean hasNext() {
            boolean hasNext = iterator.hasNext();
            if (!hasNext && isBegun) {
                isBegun = false;
                end();
            }
            return hasNext;
        }

        @Override
        public Object next() {
            Object next = iterator.next();
            if (!hasRecords) {
                return labelled(next);
            }
            if (!isBegun) {
                isBegun = true;
                begin(next);
            }
            return next;
        }
    }
}
