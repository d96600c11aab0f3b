package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * How a thread comes by a block, and which one stays with it.
 *
 * <p>A platform thread keeps its block until it ends; the agent frees it then. A virtual thread gives its block back at depth 0,
 * except when it comes again: claiming and releasing costs three times as much as a scope, so a virtual thread whose
 * {@linkplain Slab#release ghost} still lies near may keep the block at its home, the first place of its neighbourhood. Only there, so that threads with
 * ids in a row do not push each other away. Two rules bound what is kept, whatever the number of threads: live virtual threads keep at most
 * {@link #MOST_KEPT} of 8 neighbours, so that in any neighbourhood some are there for those who come and go; and a kept block whose thread has died
 * is taken over by the next one that looks for a place. The block of a live thread is never taken.
 */
final class Claims {
    /** Who keeps the block. Nothing that can fail, see {@link ContextSupport}. */
    private static final Keepers KEEPERS = Prepared.parts().keepers;

    /** A neighbourhood may begin anywhere: with larger groups the kept blocks of two could fill one. */
    private static final int GROUP = 8;
    /** Blocks that live virtual threads keep in each group, about: two that come at the same moment do not see each other. */
    private static final int MOST_KEPT = 6;

    private Claims() {
    }

    /** Has the VM initialise this class. */
    static void initialise() {
    }

    /** A block for the current thread, whose key this is and which has none; {@link Slab#NONE} and counted if there is none. */
    static long claim(long key) {
        if (key != 0 && CurrentThread.mayHaveContext(key)) {
            boolean virtual = CurrentThread.isVirtual();
            long block = virtual && Slab.hasGhost(key) ? claimToKeepIfMemory(key) : Slab.NONE;
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

    /** The first place that is free or a dead thread's. A dead one's is not left for a free one further on, which is some live thread's home. */
    private static long claimNear(long key, boolean kept) {
        for (int i = 0; i < Slab.PROBE_LIMIT; i++) {
            long block = Slab.place(key, i);
            if (Slab.claim(block, key, kept) || takeOver(block, key, kept)) {
                return block;
            }
        }
        return Slab.NONE;
    }

    private static long claimToKeepIfMemory(long key) {
        try {
            return claimToKeep(key);
        } catch (OutOfMemoryError full) {
            return Slab.NONE;
        }
    }

    private static long claimToKeep(long key) {
        long home = Slab.place(key, 0);
        // Before the claim: a block that is kept and has no keeper would never be taken over.
        KEEPERS.prepare(Slab.index(home));
        Keeper keeper = new Keeper(Thread.currentThread(), key);
        boolean claimed = Slab.owner(home) == 0 ? !isCrowded(home) && Slab.claim(home, key, true) : takeOver(home, key, true);
        if (claimed) {
            KEEPERS.set(Slab.index(home), keeper);
        }
        return claimed ? home : Slab.NONE;
    }

    /** Whether live threads keep so many blocks of the group around {@code home} that the others should be left to those who come and go. */
    private static boolean isCrowded(long home) {
        int first = Slab.index(home) & -GROUP;
        int kept = 0;
        for (int i = 0; i < GROUP; i++) {
            long block = Slab.place(first, i);
            if (Slab.isKept(block) && !isOfDead(block, Slab.owner(block))) {
                kept++;
            }
        }
        return kept >= MOST_KEPT;
    }

    /** Takes a kept block over if its thread has died. */
    private static boolean takeOver(long block, long key, boolean kept) {
        long owner = Slab.owner(block);
        return isOfDead(block, owner) && Slab.takeOver(block, owner, key, kept);
    }

    private static boolean isOfDead(long block, long owner) {
        Keeper keeper = KEEPERS.get(Slab.index(block));
        // A keeper of an earlier owner says nothing about this one.
        return keeper != null && keeper.key == owner && keeper.isDead();
    }

    /** By place, in pieces that are made when first used. Racy: a keeper that is not seen yet only means that its block is not taken. */
    static final class Keepers {
        private static final int BITS = 10;

        private final Keeper[][] pieces;

        Keepers(int places) {
            pieces = new Keeper[(places >> BITS) + 1][];
        }

        private Keeper get(int place) {
            Keeper[] piece = pieces[place >> BITS];
            return piece == null ? null : piece[place & (1 << BITS) - 1];
        }

        /** Makes place for the keeper of a block. */
        private void prepare(int place) {
            if (pieces[place >> BITS] == null) {
                newPiece(place >> BITS);
            }
        }

        private void set(int place, Keeper keeper) {
            // Who sees the keeper sees its thread: that field is not final, and read as null it would say that the thread has died.
            VarHandle.releaseFence();
            pieces[place >> BITS][place & (1 << BITS) - 1] = keeper;
        }

        private synchronized void newPiece(int at) {
            if (pieces[at] == null) {
                pieces[at] = new Keeper[1 << BITS];
            }
        }
    }

    /** The virtual thread that keeps a block. */
    private static final class Keeper extends WeakReference<Thread> {
        final long key;

        Keeper(Thread thread, long key) {
            super(thread);
            this.key = key;
        }

        /** Once true, it stays true, and all that the thread wrote is visible. */
        boolean isDead() {
            Thread thread = get();
            return thread == null || !thread.isAlive();
        }
    }
}
