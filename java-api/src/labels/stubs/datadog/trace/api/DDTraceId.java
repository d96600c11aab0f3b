package datadog.trace.api;

public abstract class DDTraceId {
    public abstract String toHexStringPadded(int size);
}
