package datadog.trace.api;

public final class DDSpanId {
    public static String toHexStringPadded(long id) {
        throw new AssertionError();
    }
}
