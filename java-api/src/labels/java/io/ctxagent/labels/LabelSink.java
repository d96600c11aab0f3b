package io.ctxagent.labels;

/** Where labels go: the Java API, of which {@link LabelLoader} loads a copy. */
public abstract class LabelSink {
    /** Opens a scope of the current thread with this operation. */
    public abstract AutoCloseable open(String operation);

    /** Replaces the operation in the scope that is open; without one, nothing happens. */
    public abstract void refine(String operation);

    /** Sets trace and span id of the current thread; {@code null} twice removes them. */
    public abstract void span(String traceId, String spanId);

    /** Sets or removes an attribute of the current thread. */
    public abstract void put(String name, String value);
}
