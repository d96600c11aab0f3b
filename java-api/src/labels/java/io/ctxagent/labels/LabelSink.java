package io.ctxagent.labels;

import java.util.function.LongSupplier;

/** Where labels go: the Java API, of which {@link LabelLoader} loads a copy. */
public abstract class LabelSink {
    /** Opens a scope of the current thread with this operation. */
    public abstract AutoCloseable open(String operation);

    /** Whether the current thread has an operation. */
    public abstract boolean hasOperation();

    /**
     * What {@link Labels#observe} reports of an HTTP request whose scope is still open; {@code
     * null} if it is within another one.
     */
    public abstract Object[] request(Object scope, int status);

    /** As {@link Labels#observeScopes}, for all of these observers. */
    public abstract void observeScopes(LongSupplier[] observers);

    /** The labels of the current thread; {@code null}: it has none. */
    public abstract Object capture();

    /** Gives the current thread captured labels until the result is closed. */
    public abstract AutoCloseable resume(Object labels);

    /** The task with the labels of the current thread, or as it is. */
    public abstract Runnable carry(Runnable task);

    /** Replaces the operation in the scope that is open; without one, nothing happens. */
    public abstract void refine(String operation);

    /** Sets trace and span id of the current thread; {@code null} twice removes them. */
    public abstract void span(String traceId, String spanId);

    /** Sets or removes an attribute of the current thread. */
    public abstract void put(String name, String value);
}
