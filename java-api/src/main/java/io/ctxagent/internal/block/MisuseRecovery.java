package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import java.util.Iterator;
import java.util.Map;

/**
 * What misuse of scopes leaves behind until it is repaired: closes by other threads, for the owner
 * to carry out, and scopes that ended with an outer one. Bounded; where it had to forget, a close
 * of a scope that may have ended ends all scopes of the thread: no context, never a wrong one.
 * Never on the hot path.
 */
public final class MisuseRecovery {
    private static final int MAX_FOREIGN_CLOSES = 1_024;

    // Nothing that can fail, see ContextSupport.
    /** By key of the owner, the eldest first. */
    private static final Map<Long, ForeignClose> FOREIGN = PreparedBlocks.instance().foreignCloses;
    private static final EndedScopes ENDED = PreparedBlocks.instance().endedScopes;

    private MisuseRecovery() {
    }

    /**
     * Has the VM initialise this class and what it uses, {@code Long}'s cache too: initialised
     * where the stack is about to end it would be unusable for all of the application. For the same
     * reason no lambda in this class.
     */
    public static void initialise() {
        FOREIGN.remove(0L);
        mayHaveEnded(Slab.place(0, 0), 0);
    }

    /** Asks the owner of a scope to end it. Called by another thread. */
    public static void closeByOwner(ForeignClose close) {
        // The mark in the block and the entry here come and go together, see take: an owner that
        // took this entry for an earlier mark would then find a mark without an entry.
        synchronized (FOREIGN) {
            Slab.markForeignClose(close.block);
            if (Slab.owner(close.block) == close.owner) {
                ForeignClose before = FOREIGN.get(close.owner);
                FOREIGN.put(close.owner, before == null || before.block != close.block ? close
                        : ForeignClose.ofBoth(before, close));
                dropSome();
            }
        }
    }

    /**
     * Drops entries if there are too many: those whose owner ended and will never take them, else
     * the eldest. A mark without an entry is safe, only coarser.
     */
    private static void dropSome() {
        if (FOREIGN.size() > MAX_FOREIGN_CLOSES) {
            Iterator<ForeignClose> closes = FOREIGN.values().iterator();
            while (closes.hasNext()) {
                ForeignClose close = closes.next();
                if (Slab.owner(close.block) != close.owner) {
                    closes.remove();
                }
            }
            if (FOREIGN.size() > MAX_FOREIGN_CLOSES) {
                FOREIGN.remove(FOREIGN.keySet().iterator().next());
            }
        }
    }

    /**
     * Ends what other threads closed, and all scopes after an interrupted write. Called by the
     * owner of {@code block}. If it is not known whether the closed scope is open, because the
     * innermost open one is not known to lie inside it, all scopes end if {@code now}; else the
     * mark stays until the scopes around are closed.
     */
    static void repair(long block, long owner, boolean now) {
        int top = Slab.top(block);
        if (Slab.isInterrupted(block)) {
            take(block, owner);
            endAll(block);
        } else if (now || top == 0 || isClear(peek(owner), block, top)) {
            ForeignClose close = take(block, owner);
            if (top != 0 && !isClear(close, block, top)) {
                endAll(block);
            } else if (top != 0 && close.isOpen(top)) {
                BlockContents.restore(block, Slab.closed(top), close.outer, close.rawTop,
                        close.ids0, close.ids1, close.ids2, close.ids3);
                end(block, close.serial, close.innermost);
            }
        }
    }

    /**
     * Whether it is known if the scope is open. Without an entry, it was dropped, or the copy of
     * this class in another loader has it.
     */
    private static boolean isClear(ForeignClose close, long block, int top) {
        return close != null && close.block == block
                && (top - close.innermost <= 0 || hasEnded(block, close.serial));
    }

    private static ForeignClose peek(long owner) {
        synchronized (FOREIGN) {
            return FOREIGN.get(owner);
        }
    }

    private static ForeignClose take(long block, long owner) {
        synchronized (FOREIGN) {
            Slab.clearForeignClose(block);
            return FOREIGN.remove(owner);
        }
    }

    /** The scopes with serials {@code from} to {@code to} ended with the first of them. */
    static void end(long block, int from, int to) {
        ENDED.add(block, from, to);
    }

    /**
     * Ends all scopes of a block: which of them are open is not known, and no context is better
     * than a wrong one. Called by its owner.
     */
    static void endAll(long block) {
        int last = Slab.nextSerial(block);
        BlockContents.restore(block, Slab.fresh(block), 0, 0, 0, 0, 0, 0);
        ENDED.addAll(block, last);
        Bridge.count(Misuse.ALL_ENDED);
    }

    static boolean hasEnded(long block, int serial) {
        return ENDED.has(block, serial, Slab.nextSerial(block));
    }

    /** Whether a scope that has not {@linkplain #hasEnded ended} as far as is known may have. */
    static boolean mayHaveEnded(long block, int serial) {
        return ENDED.mayHaveForgotten(block, serial);
    }
}
