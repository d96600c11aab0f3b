package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;

/**
 * OpenTelemetry's API in the application, where a thread's context changes. The Java agent of
 * OpenTelemetry has that API by other names: a copy of this class, in the package {@code shaded},
 * serves it.
 */
public final class Otel {
    private static final int SOURCE =
            Otel.class.getPackageName().endsWith("shaded") ? Labels.OTEL_AGENT : Labels.OTEL;

    private Otel() {}

    /** In place of {@code ThreadLocal.set}. */
    public static void set(ThreadLocal<Object> storage, Object context) {
        storage.set(context);
        if (Labels.isOn(SOURCE)) {
            tell(context);
        } else if (Labels.isUsed(SOURCE)) {
            Labels.span(SOURCE, null, null);
        }
    }

    private static void tell(Object context) {
        try {
            Span span =
                    context instanceof Context ? Span.fromContextOrNull((Context) context) : null;
            SpanContext ids = span == null ? null : span.getSpanContext();
            boolean hasSpan = ids != null && ids.isValid();
            Labels.span(
                    SOURCE, hasSpan ? ids.getTraceId() : null, hasSpan ? ids.getSpanId() : null);
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }
}
