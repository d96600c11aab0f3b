package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.ScopeWatch;
import io.ctxagent.internal.block.Slab;

/**
 * An open scope: the words that its slots had before, to be put back. Each only if the slot still
 * has the serial of this scope; all others belong to other scopes. A scope of more than one slot
 * saves all eight, in their order: those of others are put back only if nothing was published
 * since. So small and so free of references that the compiler can leave the object out where it
 * does not escape (rule 3 of {@link io.ctxagent.internal.agent.CompilerRules}).
 */
abstract class Scope {
    /** The owner's block, or {@link Slab#NONE}: this scope does nothing. */
    final long block;

    final long owner;
    // From here on not final, so that a scope that does nothing does nothing about them.
    int serial;
    long word0;
    long word1;
    long word2;
    long word3;
    long word4;
    long word5;
    long word6;
    long word7;
    /** The bytes of the raw area that this scope took, a bit each. */
    long rawBytes;
    /** What is to be told of the end; {@code null}: nothing, as mostly. */
    ScopeWatch watch;
    /** Racy where another thread closed it, see {@link #isClosed}. */
    private boolean closed;

    /** Finds the block. Not {@code on}: this scope does nothing. */
    Scope(boolean on) {
        long key = 0;
        long b = Slab.NONE;
        if (on) {
            key = CurrentThread.key();
            b = Slab.preferred(key);
            if (!Slab.isReady(b, key)) {
                b = CurrentBlock.forWriting(key);
            }
        }
        block = b;
        owner = key;
    }

    /** Takes a serial and saves all slots in their order. */
    final void saveAll() {
        long b = block;
        serial = Slab.nextSerial(b);
        word0 = Slab.wordIn(b, 0);
        word1 = Slab.wordIn(b, 1);
        word2 = Slab.wordIn(b, 2);
        word3 = Slab.wordIn(b, 3);
        word4 = Slab.wordIn(b, 4);
        word5 = Slab.wordIn(b, 5);
        word6 = Slab.wordIn(b, 6);
        word7 = Slab.wordIn(b, 7);
    }

    /** Tells those who want to know that it is closed. To be called first. */
    final void unwatch() {
        if (watch != null) {
            ScopeWatch.closed(watch);
        }
    }

    /**
     * Whether it was closed before; now it is. To be called before anything else: whoever finds
     * what another thread noted finds this, too.
     */
    final boolean isClosed() {
        boolean before = closed;
        closed = true;
        return before;
    }
}
