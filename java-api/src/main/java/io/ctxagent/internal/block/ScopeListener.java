package io.ctxagent.internal.block;

/** Who wants to know of all scopes of one copy of the API, see {@link TimedScopes#observe}. */
public interface ScopeListener {
    /**
     * The current thread closes a scope that it opened. The block still has the values of the
     * scope. Times as of {@link System#nanoTime}. Must not open a scope, nor throw.
     *
     * @param key the thread's, see {@link io.ctxagent.internal.agent.CurrentThread#key}
     * @param slots those that the scope set, a bit each
     */
    void closed(long block, long key, int slots, long startNanos, long endNanos);
}
