package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.ContextCopy;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.Slab;

/** The context of the current thread as an entry has it. */
public final class CurrentContext {
    private CurrentContext() {}

    /** A copy of it; {@code null} if there is none, and without the agent. */
    public static ContextCopy copy() {
        if (Bridge.state() != Bridge.READY) {
            return null;
        }
        long block = CurrentBlock.forReading(CurrentThread.key());
        return block == Slab.NONE ? null : new ContextCopy(block);
    }
}
