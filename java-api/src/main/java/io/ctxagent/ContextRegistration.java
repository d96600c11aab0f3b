package io.ctxagent;

/**
 * Registers context types before recording starts. Implementations are found through {@link java.util.ServiceLoader}
 * when the agent and this API first meet.
 *
 * @since 0.1
 */
public interface ContextRegistration {
    /**
     * Calls ContextTypes.register for the types that this provider brings. What it throws is reported and
     * otherwise ignored; other providers still run.
     */
    void register();
}
