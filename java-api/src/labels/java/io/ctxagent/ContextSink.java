package io.ctxagent;

import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.InPlaceUpdate;
import io.ctxagent.internal.block.TimedScopes;
import io.ctxagent.internal.propagation.ContextTasks;
import io.ctxagent.labels.LabelSink;
import java.util.function.LongSupplier;

/** Writes labels with the Java API: the copy of it that the agent brings along. */
final class ContextSink extends LabelSink {
    // No initialiser: one that fails for want of memory fails for good.
    private final RecordingContextKey operation = RecordingContextKey.forName("operation");
    private final RecordingContextKey traceId = RecordingContextKey.raw("trace_id");
    private final RecordingContextKey spanId = RecordingContextKey.raw("span_id");
    /** The innermost request of each thread. */
    private final ThreadLocal<Request> requests = new ThreadLocal<>();

    ContextSink() {
        // Those of the application know the application's own copy.
        ContextProviders.turnOff();
    }

    @Override
    public AutoCloseable open(String value) {
        return new Request(requests, operation, value);
    }

    @Override
    public boolean hasOperation() {
        return operation.isBound();
    }

    @Override
    public Object[] request(Object scope, int status) {
        return ((Request) scope).report(operation.name(), status);
    }

    @Override
    public void observeScopes(LongSupplier[] observers) {
        TimedScopes.observe(observers.length == 0 ? null : new ScopeReporter(observers));
    }

    @Override
    public Object capture() {
        return CurrentBlock.hasContext() ? RecordingContext.snapshot() : null;
    }

    @Override
    public AutoCloseable resume(Object labels) {
        return ((RecordingContext.Snapshot) labels).activateExactly();
    }

    @Override
    public Runnable carry(Runnable task) {
        RecordingContext.Snapshot labels = (RecordingContext.Snapshot) capture();
        return labels == null ? task : ContextTasks.of(task, labels);
    }

    @Override
    public void refine(String value) {
        if (ContextSupport.isOn()) {
            int place = operation.place();
            if (place >= 0) {
                int before = InPlaceUpdate.refine(place, value);
                Request request = before == 0 ? null : requests.get();
                if (request != null) {
                    request.isKnownBetter(place, before);
                }
            }
        }
    }

    @Override
    public void span(String trace, String span) {
        if (ContextSupport.isOn()) {
            int tracePlace = traceId.place();
            int spanPlace = spanId.place();
            if (tracePlace >= 0 && spanPlace >= 0) {
                InPlaceUpdate.putRaw(tracePlace, trace, spanPlace, span);
            }
        }
    }

    @Override
    public void put(String name, String value) {
        RecordingContext.put(name, value);
    }
}
