package io.ctxagent.labels.source;

import datadog.context.Context;
import datadog.context.ContextScope;
import datadog.trace.api.DDSpanId;
import datadog.trace.bootstrap.instrumentation.api.AgentSpan;
import io.ctxagent.labels.Labels;

/** Datadog's Java agent, where the scope of a thread changes. */
public final class Datadog {
    private static final int SOURCE = Labels.DATADOG;
    /** As many digits as OpenTelemetry's ids have. */
    private static final int TRACE_DIGITS = 32;

    private Datadog() {}

    /** A scope is the current one now, also when one within it has ended. */
    public static void activated(Object scope) {
        if (Labels.isOn(SOURCE)) {
            tell(scope instanceof ContextScope ? ((ContextScope) scope).context() : null);
        } else {
            emptied();
        }
    }

    /** The current thread has no scope any more. */
    public static void emptied() {
        if (Labels.isUsed(SOURCE)) {
            Labels.span(SOURCE, null, null);
        }
    }

    /**
     * The current thread gets another stack of scopes. A virtual thread gets its own again when it
     * goes on, which it has not left for us; and nothing may wait there.
     */
    public static void swapped(Object context) {
        if (Labels.isOn(SOURCE) && !isVirtual(Thread.currentThread())) {
            tell(context instanceof Context ? (Context) context : null);
        }
    }

    private static boolean isVirtual(Thread thread) {
        return thread.getClass().getName().endsWith("VirtualThread");
    }

    private static void tell(Context context) {
        try {
            AgentSpan span = context == null ? null : AgentSpan.fromContext(context);
            long id = span == null ? 0 : span.getSpanId();
            Labels.span(
                    SOURCE,
                    id == 0 ? null : span.getTraceId().toHexStringPadded(TRACE_DIGITS),
                    id == 0 ? null : DDSpanId.toHexStringPadded(id));
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }
}
