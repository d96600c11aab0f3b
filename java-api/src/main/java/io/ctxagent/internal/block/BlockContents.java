package io.ctxagent.internal.block;

/** A block's contents as a whole: put back what was there, give an empty block back. */
public final class BlockContents {
    private BlockContents() {
    }

    /** Publishes saved contents again, under {@code number}. */
    public static void restore(long block, int number, int outer, int rawTop,
            long ids0, long ids1, long ids2, long ids3) {
        boolean filtering = EventFilter.inUse();
        Slab.begin(block, number);
        Slab.putIds(block, 0, ids0);
        Slab.putIds(block, 1, ids1);
        Slab.putIds(block, 2, ids2);
        Slab.putIds(block, 3, ids3);
        Slab.putTop(block, outer);
        Slab.putRawTop(block, rawTop);
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }

    /** Whether any attribute has a value. */
    static boolean hasValue(long block) {
        return (Slab.ids(block, 0) | Slab.ids(block, 1) | Slab.ids(block, 2) | Slab.ids(block, 3))
                != 0;
    }

    /** Gives up a block that is not kept and has neither a scope nor a value in it. */
    static void releaseIfEmpty(long block) {
        if (Slab.top(block) == 0 && !hasValue(block) && !Slab.isKept(block)) {
            Slab.release(block);
        }
    }
}
