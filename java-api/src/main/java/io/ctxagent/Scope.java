package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.ScopeClose;
import io.ctxagent.internal.block.Slab;

/**
 * An open scope: what the block held before it, to be put back. So small and so free of references
 * that the compiler can leave the object out where it does not escape (rule 3 of {@link
 * io.ctxagent.internal.agent.CompilerRules}).
 */
abstract class Scope {
    /** The owner's block, or {@link Slab#NONE}: this scope does nothing. */
    final long block;
    final int serial;
    /** Serial of the scope around this one, 0 = none. */
    private final int outer;
    final int rawTop;
    private final long owner;
    private final long ids0;
    private final long ids1;
    private final long ids2;
    private final long ids3;
    /** Only tells kinds of misuse apart; the serial says whether a scope is open. */
    private boolean closed;

    /**
     * Saves what the current thread's block holds; the subclass publishes what is new. Not {@code
     * on}: this scope does nothing.
     */
    Scope(boolean on) {
        long key = 0;
        long b = Slab.NONE;
        if (on) {
            key = CurrentThread.key();
            b = Slab.place(key, 0);
            if (!Slab.isOf(b, key) || Slab.hasForeignClose(b)) {
                b = CurrentBlock.forWriting(key);
            }
        }
        block = b;
        owner = key;
        if (b != Slab.NONE) {
            int next = Slab.nextSerial(b);
            int top = Slab.top(b);
            if (top == next) {
                // An error interrupted the opening of a scope, which stores its serial last (rule
                // 13 of CompilerRules).
                CurrentBlock.forWriting(key);
                next = Slab.nextSerial(b);
                top = Slab.top(b);
            }
            serial = next;
            outer = top;
            rawTop = Slab.rawTop(b);
            ids0 = Slab.ids(b, 0);
            ids1 = Slab.ids(b, 1);
            ids2 = Slab.ids(b, 2);
            ids3 = Slab.ids(b, 3);
        } else {
            serial = 0;
            outer = 0;
            rawTop = 0;
            ids0 = 0;
            ids1 = 0;
            ids2 = 0;
            ids3 = 0;
        }
    }

    final void end() {
        long b = block;
        if (b == Slab.NONE) {
            return;
        }
        if (CurrentThread.key() == owner && Slab.top(b) == serial && !Slab.hasForeignClose(b)) {
            ScopeClose.close(b, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
        } else {
            ScopeClose.closeMisused(closed, b, owner, serial, outer, rawTop,
                    ids0, ids1, ids2, ids3);
        }
        closed = true;
    }
}
