package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.ScopeClose;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.AttributeEntry;

/**
 * An open scope: the words that it replaced in its slots, to be put back. Each only if the slot
 * still has the serial of this scope; all others belong to other scopes. So small and so free of
 * references that the compiler can leave the object out where it does not escape (rule 3 of {@link
 * io.ctxagent.internal.agent.CompilerRules}).
 */
abstract class Scope {
    /** The owner's block, or {@link Slab#NONE}: this scope does nothing. */
    final long block;
    final int serial;
    /** How many slots it has; then where they lie in the block, a byte each. */
    private final int count;
    private final long places;
    private final long owner;
    private final long word0;
    private final long word1;
    private final long word2;
    private final long word3;
    private final long word4;
    private final long word5;
    private final long word6;
    private final long word7;
    /** The bytes of the raw area that this scope took, a bit each. */
    private long rawBytes;
    /** Whether it was closed. Racy where another thread did it, see {@link ScopeClose}. */
    private boolean closed;

    /**
     * Saves what the slots of the first {@code count} entries have, and publishes the entries. With
     * {@code raw} the subclass publishes them. Not {@code on}: this scope does nothing.
     *
     * <p>{@code filtering} is evaluated before the block is looked up: from there to the end of the
     * sequence nothing may block.
     */
    Scope(boolean on, boolean filtering, boolean raw, int count, long e0, long e1, long e2, long e3,
            long e4, long e5, long e6, long e7) {
        long key = 0;
        long b = Slab.NONE;
        if (on) {
            key = CurrentThread.key();
            b = Slab.place(key, 0);
            if (!Slab.isOf(b, key) || Slab.hasForeignClose(b)) {
                b = CurrentBlock.forWriting(key);
            }
            if (raw && b != Slab.NONE) {
                RawScope.makeRoom(b);
            }
        }
        block = b;
        owner = key;
        if (b == Slab.NONE) {
            serial = 0;
            this.count = 0;
            places = 0;
            word0 = 0;
            word1 = 0;
            word2 = 0;
            word3 = 0;
            word4 = 0;
            word5 = 0;
            word6 = 0;
            word7 = 0;
            return;
        }
        int next = Slab.nextSerial(b);
        serial = next;
        this.count = count;
        places = e0 >>> 32 | e1 >>> 32 << 8 | e2 >>> 32 << 16 | e3 >>> 32 << 24 | e4 >>> 32 << 32
                | e5 >>> 32 << 40 | e6 >>> 32 << 48 | e7 >>> 32 << 56;
        // Those beyond the count, too, being 0: without a question for each.
        word0 = Slab.wordOf(b, e0);
        word1 = Slab.wordOf(b, e1);
        word2 = Slab.wordOf(b, e2);
        word3 = Slab.wordOf(b, e3);
        word4 = Slab.wordOf(b, e4);
        word5 = Slab.wordOf(b, e5);
        word6 = Slab.wordOf(b, e6);
        word7 = Slab.wordOf(b, e7);
        if (!raw) {
            try {
                // Before the words: a serial that is used up does no harm, one given twice would.
                Slab.putNext(b, next);
                if (count == 1 && !filtering) {
                    Slab.publishWord(b, Slab.opened(next), e0 >>> 32,
                            AttributeEntry.word(e0, next));
                } else {
                    int number = Slab.opened(next);
                    Slab.begin(b, number);
                    Slab.putEntries(b, count, next, e0, e1, e2, e3, e4, e5, e6, e7);
                    if (filtering) {
                        Slab.putEventMask(b, EventFilter.mask(b));
                    }
                    Slab.end(b, number);
                }
            } catch (StackOverflowError interpreted) {
                // The words that were written are this scope's; whoever gets it closes it.
            }
        }
    }

    /** For a scope with raw values: the bytes of the raw area that it took. */
    final void setRawBytes(long bytes) {
        rawBytes = bytes;
    }

    final void end() {
        long b = block;
        if (b == Slab.NONE) {
            return;
        }
        boolean before = closed;
        // Before anything else: whoever finds what another thread noted finds this, too.
        closed = true;
        if (CurrentThread.key() == owner && Slab.isUsual(b) && rawBytes == 0
                && Slab.haveStamp(b, count, serial, places) && !EventFilter.inUse()) {
            int number = Slab.closed(serial);
            if (count == 1) {
                Slab.publishWord(b, number, places, word0);
            } else {
                Slab.begin(b, number);
                Slab.putBack(b, count, places, word0, word1, word2, word3, word4, word5, word6,
                        word7);
                Slab.end(b, number);
            }
        } else {
            ScopeClose.close(before, b, owner, serial, count, places, rawBytes, word0, word1, word2,
                    word3, word4, word5, word6, word7);
        }
    }
}
