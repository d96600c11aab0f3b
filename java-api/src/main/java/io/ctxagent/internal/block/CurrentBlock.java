package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CurrentThread;

/** The block of the current thread, in which no close by another thread is left to be done. */
public final class CurrentBlock {
    private CurrentBlock() {}

    /**
     * Has the VM initialise the classes of this package one after the other, those first that
     * others use: an initialiser that runs in another one needs more stack.
     */
    public static void initialiseClasses() {
        Slab.initialise();
        RawArea.initialise();
        BlockAllocator.initialise();
        CoveredScopes.initialise();
        ScopeEnd.initialise();
        ForeignCloses.initialise();
    }

    /**
     * The block to be written, found beyond its first place or claimed; {@link Slab#NONE} and
     * counted if none is free. {@code key} is the current thread's.
     */
    public static long forWriting(long key) {
        long found = Slab.find(key);
        long block = found != Slab.NONE ? found : BlockAllocator.claim(key);
        if (block != Slab.NONE && Slab.hasForeignClose(block)) {
            ForeignCloses.carryOut(block, key);
        }
        return block;
    }

    /**
     * The block to be read; {@link Slab#NONE} if the thread has none. {@code key} is the current
     * thread's.
     */
    public static long forReading(long key) {
        long block = Slab.find(key);
        if (block == Slab.NONE || !Slab.hasForeignClose(block)) {
            return block;
        }
        ForeignCloses.carryOut(block, key);
        // May give the block back.
        BlockContents.releaseIfEmpty(block);
        return Slab.isOf(block, key) ? block : Slab.NONE;
    }

    /** Whether the current thread has a context. */
    public static boolean hasContext() {
        long block = Slab.find(CurrentThread.key());
        return block != Slab.NONE && BlockContents.hasValue(block);
    }

    /** Samples taken so far with the block of the current thread; 0 if it has none. */
    public static int samples() {
        long block = Slab.find(CurrentThread.key());
        return block == Slab.NONE ? 0 : Slab.samples(block);
    }
}
