package io.ctxagent;

/**
 * Registers context types before recording starts. Implementations are found through {@link
 * java.util.ServiceLoader}, on the class path, by the loader of this API, and by the context loader
 * of each thread that is the first to use a key with the agent. Each runs once. Without the agent:
 * they are not run.
 *
 * @since 0.1
 */
public interface ContextRegistration {
    /**
     * Calls {@link ContextTypes#register} for the types that this provider brings. What it throws
     * is logged and otherwise ignored; other providers still run.
     */
    void register();
}
