package io.ctxagent;

/**
 * Registers context types before recording starts. Implementations are found through {@link java.util.ServiceLoader}, on the
 * class path and by the loader of the thread that first uses this API with the agent. Without the agent: nobody asks for them.
 *
 * @since 0.1
 */
public interface ContextRegistration {
    /**
     * Calls {@link ContextTypes#register} for the types that this provider brings. What it throws is logged and
     * otherwise ignored; other providers still run.
     */
    void register();
}
