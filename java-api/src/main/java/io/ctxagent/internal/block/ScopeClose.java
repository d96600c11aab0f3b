package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;

/**
 * The end of a scope: puts back what the block held before it. Takes the scope's fields and never
 * the scope, see rule 3 of {@link io.ctxagent.internal.agent.CompilerRules}.
 */
public final class ScopeClose {
    private ScopeClose() {
    }

    /** Ends the innermost scope, and gives up a block that is not kept and has no context left. */
    public static void close(long block, int number, int outer, int rawTop,
            long ids0, long ids1, long ids2, long ids3) {
        // Kept first: on platform threads, and on virtual ones that come again, it decides alone.
        if (!Slab.isKept(block) && outer == 0 && (ids0 | ids1 | ids2 | ids3) == 0) {
            Slab.release(block);
        } else {
            BlockContents.restore(block, number, outer, rawTop, ids0, ids1, ids2, ids3);
        }
    }

    /**
     * Ends a scope that is not certainly the innermost one of the current thread. {@code closed}:
     * it was closed before, which only tells kinds of misuse apart.
     */
    public static void closeMisused(boolean closed, long block, long owner, int serial, int outer,
            int rawTop, long ids0, long ids1, long ids2, long ids3) {
        if (CurrentThread.key() != owner) {
            Bridge.count(closed ? Misuse.DOUBLE_CLOSE : Misuse.CLOSE_ON_OTHER_THREAD);
            if (!closed && Slab.owner(block) == owner) {
                MisuseRecovery.closeByOwner(new ForeignClose(owner, block, serial, outer, rawTop,
                        ids0, ids1, ids2, ids3));
            }
            return;
        }
        boolean owned = Slab.owner(block) == owner;
        if (owned && Slab.needsRepair(block)) {
            boolean innermost = !Slab.isInterrupted(block) && Slab.top(block) == serial;
            if (innermost) {
                // This one first: then what another thread closed is the innermost one, or was
                // closed before.
                BlockContents.restore(block, Slab.closed(serial), outer, rawTop,
                        ids0, ids1, ids2, ids3);
            }
            MisuseRecovery.repair(block, owner, false);
            BlockContents.releaseIfEmpty(block);
            if (innermost) {
                if (closed) {
                    Bridge.count(Misuse.DOUBLE_CLOSE);
                }
                return;
            }
        }
        int top = Slab.owner(block) == owner ? Slab.top(block) : 0;
        if (top == serial) {
            close(block, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
        } else if (closed) {
            Bridge.count(Misuse.DOUBLE_CLOSE);
        } else if (top == 0 || top - serial < 0 || MisuseRecovery.hasEnded(block, serial)) {
            Bridge.count(Misuse.CLOSE_AFTER_OUTER);
        } else {
            Bridge.count(Misuse.CLOSE_OUT_OF_ORDER);
            if (MisuseRecovery.mayHaveEnded(block, serial)) {
                // What it puts back may be what another request left.
                MisuseRecovery.endAll(block);
                BlockContents.releaseIfEmpty(block);
            } else {
                MisuseRecovery.end(block, serial, top);
                close(block, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
            }
        }
    }
}
