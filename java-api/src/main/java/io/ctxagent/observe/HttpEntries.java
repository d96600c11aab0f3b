package io.ctxagent.observe;

import io.ctxagent.internal.observe.EntrySource;
import io.ctxagent.internal.observe.LabelConnection;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;
import java.util.Map;
import java.util.function.Consumer;

/** HTTP requests that the agent's sources of labels see, while somebody observes them. */
final class HttpEntries implements EntrySource, Consumer<Object[]> {
    private static final int TYPE = EntryType.HTTP.ordinal();

    private final LabelConnection labels = new LabelConnection("observe", Consumer.class, this);

    @Override
    public void turn(boolean on) {
        labels.turn(on);
    }

    @Override
    public void poll() {
        labels.poll();
    }

    /** As {@code Labels.observe} says. */
    @Override
    @SuppressWarnings("unchecked")
    public void accept(Object[] request) {
        String operation = request[0] == null ? "" : (String) request[0];
        long begin = (long) request[1];
        Map<String, String> attributes = (Map<String, String>) request[4];
        ObserverHub.publish(new ObservedEntry(
                TYPE,
                operation,
                begin,
                (long) request[2] - begin,
                new HttpDetail(operation, (int) request[3], (int) request[5]),
                () -> attributes));
    }
}
