package io.ctxagent.internal.block;

/** The block of the current thread, repaired where misuse made that necessary. */
public final class CurrentBlock {
    private CurrentBlock() {
    }

    /**
     * Has the VM initialise the classes of this package one after the other, those first that
     * others use: an initialiser that runs in another one needs more stack.
     */
    public static void initialiseClasses() {
        Slab.initialise();
        RawArea.initialise();
        BlockAllocator.initialise();
        MisuseRecovery.initialise();
    }

    /**
     * The block to be written, found beyond its first place, claimed, or repaired first; {@link
     * Slab#NONE} and counted if none is free. {@code key} is the current thread's.
     */
    public static long forWriting(long key) {
        long found = Slab.find(key);
        long block = found != Slab.NONE ? found : BlockAllocator.claim(key);
        if (block != Slab.NONE && Slab.needsRepair(block)) {
            MisuseRecovery.repair(block, key, true);
        }
        return block;
    }

    /**
     * The block to be read; {@link Slab#NONE} if the thread has none, or if it is not certain that
     * the context in it is right. {@code key} is the current thread's.
     */
    public static long forReading(long key) {
        long block = Slab.find(key);
        if (block == Slab.NONE || !Slab.needsRepair(block)) {
            return block;
        }
        // Ends what other threads closed as far as that is certain; may give the block back.
        MisuseRecovery.repair(block, key, false);
        BlockContents.releaseIfEmpty(block);
        return Slab.isOf(block, key) && !Slab.needsRepair(block) ? block : Slab.NONE;
    }
}
