package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CompilerRules;

/** What is to be told when a scope is closed. */
public abstract class ScopeWatch {
    /** The next one of the same scope, or {@code null}. */
    public final ScopeWatch next;

    protected ScopeWatch(ScopeWatch next) {
        this.next = next;
    }

    /** The current thread closes the scope, whose values are still there. At each close. */
    protected abstract void closed();

    /** Tells this one and those after it. Never throws. */
    public static void closed(ScopeWatch first) {
        closed(CompilerRules.KEEP_CALL, first);
    }

    /** A kept call (rule 5 of {@link CompilerRules}). */
    private static void closed(int callsLeft, ScopeWatch first) {
        if (callsLeft > 0) {
            closed(callsLeft - 1, first);
            return;
        }
        try {
            for (ScopeWatch each = first; each != null; each = each.next) {
                each.closed();
            }
        } catch (VirtualMachineError shortage) {
            // They do not get to know.
        }
    }
}
