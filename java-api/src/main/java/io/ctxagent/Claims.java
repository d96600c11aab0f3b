package io.ctxagent;

import io.ctxagent.internal.Bridge;
import io.ctxagent.internal.Misuse;
import java.lang.ref.WeakReference;

/**
 * How a thread comes by a block, and which one stays with it.
 *
 * <p>A platform thread keeps its block until it ends; the agent frees it then. A virtual thread gives its block back at depth 0,
 * except when it comes again: claiming and releasing costs three times as much as a scope, so a virtual thread whose
 * {@linkplain Slab#release ghost} still lies near is given a block to keep. Two rules bound what is kept, whatever the number of threads:
 * only blocks at even places are kept, so that half of each neighbourhood is always there for those who come and go; and a kept block whose
 * thread has died is taken over by the next one that looks for a place. The block of a live thread is never taken.
 */
final class Claims {
    /** By place, in pieces that are made when first used: who keeps the block. */
    private static final Keeper[][] KEEPERS = new Keeper[(Slab.PLACES >> Piece.BITS) + 1][];

    private Claims() {
    }

    /** A block for the current thread, whose key this is and which has none; {@link Slab#NONE} and counted if there is none. */
    static long claim(long key) {
        if (key != 0 && Threads.hasContext(key)) {
            boolean virtual = Threads.isVirtual();
            long block = virtual && Slab.hasGhost(key) ? claimToKeep(key) : Slab.NONE;
            if (block == Slab.NONE) {
                block = claimFree(key, !virtual);
            }
            if (block == Slab.NONE) {
                block = claimOfDead(key, !virtual);
            }
            if (block != Slab.NONE) {
                return block;
            }
        }
        Bridge.count(Misuse.NO_FREE_BLOCK);
        return Slab.NONE;
    }

    private static long claimFree(long key, boolean kept) {
        for (int i = 0; i < Slab.PROBE_LIMIT; i++) {
            long block = Slab.place(key, i);
            if (Slab.claim(block, key, kept)) {
                return block;
            }
        }
        return Slab.NONE;
    }

    private static long claimToKeep(long key) {
        long block = Slab.NONE;
        for (int i = (int) key & 1; i < Slab.PROBE_LIMIT && block == Slab.NONE; i += 2) {
            block = Slab.claim(Slab.place(key, i), key, true) ? Slab.place(key, i) : Slab.NONE;
        }
        if (block == Slab.NONE) {
            block = claimOfDead(key, true);
        }
        if (block != Slab.NONE) {
            Piece.set(Slab.index(block), new Keeper(Thread.currentThread(), key));
        }
        return block;
    }

    /** Takes over a kept block whose thread has died, at an even place. */
    private static long claimOfDead(long key, boolean kept) {
        for (int i = (int) key & 1; i < Slab.PROBE_LIMIT; i += 2) {
            long block = Slab.place(key, i);
            long owner = Slab.owner(block);
            Keeper keeper = Piece.get(Slab.index(block));
            // A keeper of an earlier owner says nothing about this one.
            if (keeper != null && keeper.key == owner && keeper.isDead() && Slab.takeOver(block, owner, key, kept)) {
                return block;
            }
        }
        return Slab.NONE;
    }

    /** Access to {@link #KEEPERS}. Racy: a keeper is immutable, and one that is not seen yet only means that its block is not taken. */
    private static final class Piece {
        static final int BITS = 10;

        static Keeper get(int place) {
            Keeper[] piece = KEEPERS[place >> BITS];
            return piece == null ? null : piece[place & (1 << BITS) - 1];
        }

        static void set(int place, Keeper keeper) {
            Keeper[] piece = KEEPERS[place >> BITS];
            if (piece == null) {
                piece = newPiece(place >> BITS);
            }
            piece[place & (1 << BITS) - 1] = keeper;
        }

        private static synchronized Keeper[] newPiece(int at) {
            if (KEEPERS[at] == null) {
                KEEPERS[at] = new Keeper[1 << BITS];
            }
            return KEEPERS[at];
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
