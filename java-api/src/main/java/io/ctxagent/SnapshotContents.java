package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.ScopeOpen;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.propagation.ContextSnapshot;

/** The contents of a snapshot: value ids of a context, and the bytes of raw values. Immutable. */
abstract class SnapshotContents implements ContextSnapshot {
    /** Whether contexts were on: else its activation does nothing. */
    final boolean isOn;
    /** The slots that have an id, a bit each. */
    final int named;

    final long ids0;
    final long ids1;
    final long ids2;
    final long ids3;
    /** A copy of the raw area, or {@code null} if no value lies there. */
    final byte[] raw;

    /** Nothing. Needs no agent. */
    SnapshotContents(Void off) {
        isOn = false;
        named = 0;
        ids0 = 0;
        ids1 = 0;
        ids2 = 0;
        ids3 = 0;
        raw = null;
    }

    /** The context of the current thread. */
    SnapshotContents() {
        isOn = true;
        long block = CurrentBlock.forReading(CurrentThread.key());
        ids0 = block == Slab.NONE ? 0 : Slab.ids(block, 0);
        ids1 = block == Slab.NONE ? 0 : Slab.ids(block, 1);
        ids2 = block == Slab.NONE ? 0 : Slab.ids(block, 2);
        ids3 = block == Slab.NONE ? 0 : Slab.ids(block, 3);
        named = ScopeOpen.withIds(ids0, ids1, ids2, ids3);
        long used = block == Slab.NONE ? 0 : Slab.rawUsed(block);
        raw = used == 0 ? null : RawArea.copy(block, RawArea.top(used));
    }
}
