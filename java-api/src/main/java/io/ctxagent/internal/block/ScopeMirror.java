package io.ctxagent.internal.block;

/** Who gets the scopes of a recording beside the agent, see {@link TimedScopes#mirror}. */
public interface ScopeMirror {
    /**
     * The current thread has opened a scope, which sets these slots. Returns what is to be told of
     * its end, or {@code null}. Must not open a scope, nor throw.
     */
    Opened opened(int slots);

    /** A scope that is open. */
    interface Opened {
        /**
         * The thread closes it, and the recording has it; the block still has the values. Must not
         * open a scope, nor throw.
         *
         * @param slots those that the scope set, and that nothing has changed meanwhile
         */
        void closed(long block, int slots);
    }
}
