package io.ctxagent.internal.block;

/** Who wants to know of all scopes of one copy of the API, see {@link TimedScopes#observe}. */
public interface ScopeListener {
    /**
     * The current thread opens a scope. Must not open one, nor throw.
     *
     * @return what {@link #closed} gets back; may be {@code null}
     */
    Object opened(long startNanos);

    /**
     * The current thread closes a scope that it opened. The block still has the values of the
     * scope. Times as of {@link System#nanoTime}. Must not open a scope, nor throw.
     *
     * @param slots those that the scope set, a bit each
     * @param samples taken of the thread while it was open
     * @param opened of {@link #opened}; {@code null} if nobody observed then
     */
    void closed(long block, int slots, int samples, long startNanos, long endNanos, Object opened);
}
