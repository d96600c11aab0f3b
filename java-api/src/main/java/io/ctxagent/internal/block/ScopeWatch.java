package io.ctxagent.internal.block;

/** What is to be told when a scope is closed. */
public abstract class ScopeWatch {
    /** The next one of the same scope, or {@code null}. */
    public final ScopeWatch next;

    protected ScopeWatch(ScopeWatch next) {
        this.next = next;
    }

    /** The current thread closes the scope, whose values are still there. At each close. */
    public abstract void closed();
}
