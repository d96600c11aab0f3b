package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;

/** A block's contents as a whole. */
public final class BlockContents {
    private BlockContents() {}

    /** Whether any attribute has a value. */
    public static boolean hasValue(long block) {
        int any = 0;
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            any |= Slab.id(block, slot);
        }
        return any != 0;
    }

    /** Those of some slots that have a value. */
    static int withValue(long block, int slots) {
        int found = 0;
        for (int rest = slots; rest != 0; rest &= rest - 1) {
            if (Slab.id(block, Integer.numberOfTrailingZeros(rest)) != 0) {
                found |= Integer.lowestOneBit(rest);
            }
        }
        return found;
    }

    /** Gives up a block that is not kept and has neither a scope nor a value in it. */
    static void releaseIfEmpty(long block) {
        if (!Slab.isKept(block) && Slab.isEmpty(block)) {
            Slab.release(block);
        }
    }

    /** Ends all scopes of the current thread; what was put stays. */
    static void endAllScopes(long block) {
        Frames.put(block, Frames.SLOTS);
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            if (Slab.stamp(Slab.wordIn(block, slot)) != 0) {
                Slab.putWordIn(block, slot, 0);
            }
        }
        RawArea.compact(block);
        Slab.end(block, number);
    }
}
