package io.opentelemetry.api.trace;

import io.opentelemetry.context.Context;

public interface Span {
    static Span fromContextOrNull(Context context) {
        throw new IllegalStateException("this library is broken");
    }

    SpanContext getSpanContext();
}
