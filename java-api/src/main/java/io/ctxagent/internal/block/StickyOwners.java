package io.ctxagent.internal.block;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * The virtual threads that keep a block, by place of the block. Racy: an owner that is not seen yet
 * only means that its block is not taken over.
 */
final class StickyOwners {
    private static final int PIECE_BITS = 10;

    /** Pieces are made when first used. */
    private final Owner[][] pieces;

    StickyOwners(int blocks) {
        pieces = new Owner[(blocks >> PIECE_BITS) + 1][];
    }

    /** Makes place for the owner of a block. */
    void prepare(int place) {
        if (pieces[place >> PIECE_BITS] == null) {
            newPiece(place >> PIECE_BITS);
        }
    }

    void set(int place, Owner owner) {
        // A reader of the owner must see its thread: that field is not final, and read as null it
        // would mean that the thread has ended.
        VarHandle.releaseFence();
        pieces[place >> PIECE_BITS][place & (1 << PIECE_BITS) - 1] = owner;
    }

    /** Whether the thread that keeps the block at {@code place} under {@code key} has ended. */
    boolean hasEnded(int place, long key) {
        Owner[] piece = pieces[place >> PIECE_BITS];
        Owner owner = piece == null ? null : piece[place & (1 << PIECE_BITS) - 1];
        // An earlier owner of the block says nothing about this one.
        return owner != null && owner.key == key && owner.hasEnded();
    }

    private synchronized void newPiece(int at) {
        if (pieces[at] == null) {
            pieces[at] = new Owner[1 << PIECE_BITS];
        }
    }

    /** A virtual thread that keeps a block. */
    static final class Owner extends WeakReference<Thread> {
        private final long key;

        Owner(Thread thread, long key) {
            super(thread);
            this.key = key;
        }

        /** Once true, it stays true, and all that the thread wrote is visible. */
        private boolean hasEnded() {
            Thread thread = get();
            return thread == null || !thread.isAlive();
        }
    }
}
