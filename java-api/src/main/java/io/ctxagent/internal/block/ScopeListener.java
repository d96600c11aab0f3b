package io.ctxagent.internal.block;

/**
 * Who wants to know of all scopes of one copy of the API, see {@link TimedScopes#observe}. Must not
 * open one, nor throw.
 */
public interface ScopeListener {
    /** What the current thread has allocated so far; -1: not known. */
    long allocatedBytes();

    /**
     * CPU time that the current thread, which opens a scope now, has used; -1: it is not to be
     * measured of this scope.
     */
    long cpuNanos(long nowNanos);

    /**
     * The current thread closes a scope that it opened. The block still has the values of the
     * scope. Times as of {@link System#nanoTime}.
     *
     * @param thread the key of the thread
     * @param slots those that the scope set, a bit each
     * @param samples taken of the thread while it was open
     * @param allocatedBefore of {@link #allocatedBytes} when it was opened; -1 if nobody observed
     * @param cpuBefore of {@link #cpuNanos} then
     */
    void closed(
            long thread,
            long block,
            int slots,
            int samples,
            long startNanos,
            long endNanos,
            long allocatedBefore,
            long cpuBefore);
}
