package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;

/**
 * Which thread gets which block, and which one stays with it.
 *
 * <p>A platform thread keeps its block until it ends; the agent frees it then. A virtual thread
 * gives its block back at depth 0, except when it comes again: claiming and releasing costs three
 * times as much as a scope, so a virtual thread that finds its {@linkplain Slab#release affinity
 * tag} may keep the block at its preferred place. Only there, so that threads with ids in a row do
 * not push each other away. Three rules bound what is kept, whatever the number of threads: live
 * virtual threads keep at most {@link #MAX_KEPT} of 8 neighbours, so that there are blocks for
 * threads that come and go; a kept block whose thread has ended is taken over by the next one that
 * needs a place; and in a {@linkplain #CROWDED crowded} table nobody keeps a block any more. The
 * block of a live thread is never taken.
 */
final class BlockAllocator {
    // Nothing that can fail, see ContextSupport.
    private static final StickyOwners STICKY = PreparedBlocks.instance().stickyOwners;

    private static final int GROUP = 8;
    /**
     * Blocks that live virtual threads keep in each group, about: two that come at the same moment
     * do not see each other.
     */
    private static final int MAX_KEPT = 6;
    /**
     * So many places of a thread are taken only in a table that is almost full: where half of it is
     * free, for one thread of 60,000.
     */
    private static final int CROWDED = 16;

    private BlockAllocator() {}

    /** Has the VM initialise this class. */
    static void initialise() {}

    /**
     * A block for the current thread, whose key this is and which has none; {@link Slab#NONE} and
     * counted if there is none.
     */
    static long claim(long key) {
        if (key != 0 && CurrentThread.mayHaveContext(key)) {
            boolean virtual = CurrentThread.isVirtual();
            long block = virtual && Slab.hasAffinityTag(key) ? claimToKeepIfMemory(key) : Slab.NONE;
            if (block == Slab.NONE) {
                block = claimNear(key, !virtual);
            }
            if (block != Slab.NONE) {
                return block;
            }
        }
        Bridge.count(Misuse.NO_FREE_BLOCK);
        return Slab.NONE;
    }

    /**
     * The first place that is free or an ended thread's. The latter is not left for a free one
     * further on, which is some live thread's preferred place.
     */
    static long claimNear(long key, boolean kept) {
        long preferred = Slab.preferred(key);
        if (take(preferred, key, kept)) {
            return preferred;
        }
        long state = key;
        for (int number = 1; number < BlockLayout.PROBE_LIMIT; number++) {
            state = Slab.further(state);
            long block = Slab.at(state);
            if (isFree(block)) {
                Slab.extendReach(preferred, number);
                if (take(block, key, kept && number < CROWDED)) {
                    return block;
                }
            }
        }
        return Slab.NONE;
    }

    private static boolean take(long block, long key, boolean kept) {
        return Slab.claim(block, key, kept) || takeOver(block, key, kept);
    }

    private static boolean isFree(long block) {
        long owner = Slab.owner(block);
        return owner == 0 || hasEnded(block, owner);
    }

    private static long claimToKeepIfMemory(long key) {
        try {
            return claimToKeep(key);
        } catch (OutOfMemoryError full) {
            return Slab.NONE;
        }
    }

    private static long claimToKeep(long key) {
        long preferred = Slab.preferred(key);
        // Before the claim: a kept block without a known owner would never be taken over.
        STICKY.prepare(Slab.index(preferred));
        StickyOwners.Owner owner = new StickyOwners.Owner(Thread.currentThread(), key);
        boolean claimed = Slab.owner(preferred) == 0
                ? !isCrowded(preferred) && Slab.claim(preferred, key, true)
                : takeOver(preferred, key, true);
        if (claimed) {
            STICKY.set(Slab.index(preferred), owner);
        }
        return claimed ? preferred : Slab.NONE;
    }

    /**
     * Whether live threads keep so many blocks of the group around {@code preferred} that the
     * others should be left to threads that come and go.
     */
    private static boolean isCrowded(long preferred) {
        int first = Slab.index(preferred) & -GROUP;
        int kept = 0;
        for (int i = 0; i < GROUP; i++) {
            long block = Slab.preferred(first + i);
            if (Slab.isKept(block) && !hasEnded(block, Slab.owner(block))) {
                kept++;
            }
        }
        return kept >= MAX_KEPT;
    }

    /** Takes a kept block over if its thread has ended. */
    private static boolean takeOver(long block, long key, boolean kept) {
        long owner = Slab.owner(block);
        return hasEnded(block, owner) && Slab.takeOver(block, owner, key, kept);
    }

    private static boolean hasEnded(long block, long owner) {
        return STICKY.hasEnded(Slab.index(block), owner);
    }
}
