package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import java.util.Iterator;
import java.util.Map;

/**
 * Closes by other threads, for the owner of the scope to carry out at its next call. Bounded; where
 * it drops some, all scopes of their owner end: no context, never a wrong one. Never on the hot
 * path.
 */
final class ForeignCloses {
    private static final int MAX_CLOSES = 4_096;

    // Nothing that can fail, see ContextSupport.
    /** By key of the owner, the eldest first. */
    private static final Map<Long, ForeignClose> ALL = PreparedBlocks.instance().foreignCloses;

    private static int count;

    private ForeignCloses() {}

    /**
     * Has the VM initialise this class and what it uses, {@code Long}'s cache too: initialised
     * where the stack is about to end it would be unusable for all of the application. For the same
     * reason no lambda in this class.
     */
    static void initialise() {
        ALL.remove(0L);
    }

    /** Asks the owner of a scope to end it. Called by another thread. */
    static void add(ForeignClose close) {
        // The mark in the block and the note here come and go together, see take: an owner that
        // took this note for an earlier mark would then find a mark without a note.
        synchronized (ALL) {
            Slab.markForeignClose(close.block);
            if (Slab.owner(close.block) == close.owner) {
                if (++count > MAX_CLOSES) {
                    dropSome();
                }
                close.next = ALL.get(close.owner);
                ALL.put(close.owner, close);
            }
        }
    }

    /**
     * Drops notes if there are too many: those whose owner ended and will never take them, else the
     * eldest owner's, for which one stays that ends all of its scopes.
     */
    private static void dropSome() {
        Iterator<ForeignClose> closes = ALL.values().iterator();
        while (closes.hasNext()) {
            ForeignClose close = closes.next();
            if (Slab.owner(close.block) != close.owner) {
                closes.remove();
                uncount(close);
            }
        }
        for (ForeignClose close : ALL.values()) {
            if (count > MAX_CLOSES && close.next != null) {
                uncount(close.next);
                close.next = null;
                close.endsAll = true;
            }
        }
    }

    private static void uncount(ForeignClose closes) {
        for (ForeignClose close = closes; close != null; close = close.next) {
            count--;
        }
    }

    /** Ends what other threads closed. Called by the owner of {@code block}. */
    static void carryOut(long block, long owner) {
        boolean known = false;
        for (ForeignClose close = take(block, owner); close != null; close = close.next) {
            if (close.block == block) {
                known = !close.endsAll;
                close.carryOut();
            }
        }
        if (!known) {
            // It was dropped, or the copy of this class in another loader has it.
            BlockContents.endAllScopes(block);
            Bridge.count(Misuse.ALL_ENDED);
        }
    }

    private static ForeignClose take(long block, long owner) {
        synchronized (ALL) {
            Slab.clearForeignClose(block);
            ForeignClose closes = ALL.remove(owner);
            uncount(closes);
            return closes;
        }
    }
}
