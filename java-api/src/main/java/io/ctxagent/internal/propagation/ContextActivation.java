package io.ctxagent.internal.propagation;

/** A carried context while it is installed. */
public interface ContextActivation extends AutoCloseable {
    /** Puts back what was installed before. */
    @Override
    void close();
}
