package io.ctxagent.internal.propagation;

/** A captured context that is carried to where a task runs. */
public interface ContextSnapshot {
    /**
     * Installs the context on the current thread in place of the one there, to be closed there.
     */
    ContextActivation activateExactly();
}
