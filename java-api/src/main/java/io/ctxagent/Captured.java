package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;

/** What a snapshot holds: the value ids of a context, and the bytes of its raw values. Immutable. */
abstract class Captured {
    /** Whether contexts were on: else its activation does nothing. */
    final boolean isOn;
    final long ids0;
    final long ids1;
    final long ids2;
    final long ids3;
    /** The raw area, if a value lies there. */
    final byte[] raw;

    /** Nothing. Needs no agent. */
    Captured(Void off) {
        isOn = false;
        ids0 = 0;
        ids1 = 0;
        ids2 = 0;
        ids3 = 0;
        raw = null;
    }

    /** The context of the current thread. */
    Captured() {
        isOn = true;
        long at = Scope.settled(CurrentThread.key());
        ids0 = at == Slab.NONE ? 0 : Slab.ids(at, 0);
        ids1 = at == Slab.NONE ? 0 : Slab.ids(at, 1);
        ids2 = at == Slab.NONE ? 0 : Slab.ids(at, 2);
        ids3 = at == Slab.NONE ? 0 : Slab.ids(at, 3);
        int top = at == Slab.NONE ? 0 : Slab.rawTop(at);
        raw = top == 0 ? null : Raw.copy(at, top);
    }

    /**
     * In the sequence, after the ids: copies the values whose bytes lie in {@link #raw}, but those that lie in the block already, as where the snapshot was
     * taken in a scope that is open here. Returns how many found no room.
     */
    final int writeRaw(long block, int top) {
        int at = top;
        int lost = 0;
        for (int slot = 0; slot < Slab.SLOTS; slot++) {
            int id = Slab.id(block, slot);
            if (Raw.isRaw(id) && !Raw.isThere(block, top, raw, id)) {
                int moved = Raw.write(block, at, raw, id);
                Slab.putId(block, slot, moved);
                at += Raw.length(moved);
                lost += moved == Slab.OVERFLOW_ID ? 1 : 0;
            }
        }
        Slab.putRawTop(block, at);
        return lost;
    }
}
