package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;

/**
 * An open scope: what the block held before it, to be put back. Kept so small and so free of references that the
 * compiler can leave the object out where it does not escape; for the same reason the slow paths take its fields, never the scope.
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
    /** Only to tell kinds of misuse apart; whether a scope is open, its serial says. */
    private boolean closed;

    /** Saves what the current thread's block holds. The subclass publishes what is new. Not {@code on}: this scope does nothing. */
    Scope(boolean on) {
        long key = 0;
        long b = Slab.NONE;
        if (on) {
            key = CurrentThread.key();
            b = Slab.place(key, 0);
            if (!Slab.isOf(b, key) || Slab.hasForeignClose(b)) {
                b = prepare(key);
            }
        }
        block = b;
        owner = key;
        if (b != Slab.NONE) {
            int next = Slab.nextSerial(b);
            int top = Slab.top(b);
            if (top == next) {
                // An error tore the opening of a scope: its serial is stored at the end. Both numbers are at hand, a look at the sequence costs a tenth of a scope.
                prepare(key);
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

    /** The current thread's block, found further away, claimed, or repaired first; {@link Slab#NONE} if none is free. */
    static long prepare(long key) {
        long b = Slab.findOrAcquire(key);
        if (b != Slab.NONE && Slab.isDisturbed(b)) {
            Repairs.repair(b, key, true);
        }
        return b;
    }

    /** The block of the current thread, whose key this is, to be read; {@link Slab#NONE} if it has none, or not certainly a right context in it. */
    static long settled(long key) {
        long b = Slab.find(key);
        if (b == Slab.NONE || !Slab.isDisturbed(b)) {
            return b;
        }
        // Ends what other threads closed as far as that is certain; the block may be given back then.
        Repairs.repair(b, key, false);
        releaseIfEmpty(b);
        return Slab.isOf(b, key) && !Slab.isDisturbed(b) ? b : Slab.NONE;
    }

    final void end() {
        long b = block;
        if (b == Slab.NONE) {
            return;
        }
        if (CurrentThread.key() == owner && Slab.top(b) == serial && !Slab.hasForeignClose(b)) {
            close(b, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
        } else {
            endSlow(closed, b, owner, serial, outer, rawTop, ids0, ids1, ids2, ids3);
        }
        closed = true;
    }

    /** Puts back what was there, and gives up a block that is not kept when no context is left in it. */
    private static void close(long b, int number, int outer, int rawTop, long ids0, long ids1, long ids2, long ids3) {
        // That first: on platform threads, and on virtual ones that come again, it answers the question alone.
        if (!Slab.isKept(b) && outer == 0 && (ids0 | ids1 | ids2 | ids3) == 0) {
            Slab.release(b);
        } else {
            restore(b, number, outer, rawTop, ids0, ids1, ids2, ids3);
        }
    }

    /** Gives up a block that is not kept and has neither a scope nor a value in it. */
    static void releaseIfEmpty(long b) {
        if (Slab.top(b) == 0 && (Slab.ids(b, 0) | Slab.ids(b, 1) | Slab.ids(b, 2) | Slab.ids(b, 3)) == 0
                && !Slab.isKept(b)) {
            Slab.release(b);
        }
    }

    /** Puts ids back, under {@code number}. */
    static void restore(long b, int number, int outer, int rawTop, long ids0, long ids1, long ids2, long ids3) {
        boolean filtering = Filters.inUse();
        Slab.begin(b, number);
        Slab.putIds(b, 0, ids0);
        Slab.putIds(b, 1, ids1);
        Slab.putIds(b, 2, ids2);
        Slab.putIds(b, 3, ids3);
        Slab.putTop(b, outer);
        Slab.putRawTop(b, rawTop);
        if (filtering) {
            Slab.putEventMask(b, Filters.mask(b));
        }
        Slab.end(b, number);
    }

    private static void endSlow(boolean closed, long b, long owner, int serial, int outer, int rawTop,
            long ids0, long ids1, long ids2, long ids3) {
        if (CurrentThread.key() != owner) {
            Bridge.count(closed ? Misuse.DOUBLE_CLOSE : Misuse.FOREIGN_CLOSE);
            if (!closed && Slab.owner(b) == owner) {
                Repairs.closeByOwner(new Repairs.Note(owner, b, serial, outer, rawTop, ids0, ids1, ids2, ids3));
            }
            return;
        }
        boolean mine = Slab.owner(b) == owner;
        if (mine && Slab.isDisturbed(b)) {
            boolean innermost = !Slab.isTorn(b) && Slab.top(b) == serial;
            if (innermost) {
                // First this one: what another thread closed is then the innermost one, or was closed before.
                restore(b, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
            }
            Repairs.repair(b, owner, false);
            releaseIfEmpty(b);
            if (innermost) {
                if (closed) {
                    Bridge.count(Misuse.DOUBLE_CLOSE);
                }
                return;
            }
        }
        int top = Slab.owner(b) == owner ? Slab.top(b) : 0;
        if (top == serial) {
            close(b, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
        } else if (closed) {
            Bridge.count(Misuse.DOUBLE_CLOSE);
        } else if (top == 0 || top - serial < 0 || Repairs.hasEnded(b, serial)) {
            Bridge.count(Misuse.CLOSE_AFTER_OUTER);
        } else {
            Bridge.count(Misuse.CLOSE_OUT_OF_ORDER);
            if (Repairs.mayHaveEnded(b, serial)) {
                // What it puts back may be what another request left.
                Repairs.endAll(b);
                releaseIfEmpty(b);
            } else {
                Repairs.end(b, serial, top);
                close(b, Slab.closed(serial), outer, rawTop, ids0, ids1, ids2, ids3);
            }
        }
    }
}
