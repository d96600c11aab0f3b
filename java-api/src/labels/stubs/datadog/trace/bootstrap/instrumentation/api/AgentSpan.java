package datadog.trace.bootstrap.instrumentation.api;

import datadog.context.Context;
import datadog.trace.api.DDTraceId;

public interface AgentSpan {
    static AgentSpan fromContext(Context context) {
        throw new AssertionError();
    }

    DDTraceId getTraceId();

    long getSpanId();
}
