package io.ctxagent.internal.propagation;

/** Captures the context of the thread that hands a task over. */
public interface SnapshotSource {
    /** The current context, or {@code null} if contexts are off. */
    ContextSnapshot capture();
}
