package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;

/** The samples of the current thread from a moment on, as its block counts them. */
public final class SampleCount {
    private final long key;
    private final long block;
    private final int before;

    private SampleCount(long key, long block) {
        this.key = key;
        this.block = block;
        before = Slab.samples(block);
    }

    /** Begins; {@code null} if the thread has no context, and without the agent. */
    public static SampleCount begin() {
        if (Bridge.state() != Bridge.READY) {
            return null;
        }
        long key = CurrentThread.key();
        long block = CurrentBlock.forReading(key);
        return block == Slab.NONE ? null : new SampleCount(key, block);
    }

    /** Samples since; -1 if the thread has the block no more. To be called by it. */
    public long soFar() {
        boolean isSame = Slab.isOf(block, key);
        return isSame ? Integer.toUnsignedLong(Slab.samples(block) - before) : -1;
    }
}
