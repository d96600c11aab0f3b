package io.ctxagent.internal.block;

/**
 * A scope that another thread closed, for its owner to end, and what it restores; or several, each
 * opened directly inside the one before, and what the outermost restores.
 */
public final class ForeignClose {
    final long owner;
    final long block;
    final int serial;
    /** Serial of the innermost of several, else {@link #serial}. */
    final int innermost;
    final int outer;
    final int rawTop;
    final long ids0;
    final long ids1;
    final long ids2;
    final long ids3;

    /** The fields of one scope. */
    public ForeignClose(long owner, long block, int serial, int outer, int rawTop,
            long ids0, long ids1, long ids2, long ids3) {
        this(owner, block, serial, serial, outer, rawTop, ids0, ids1, ids2, ids3);
    }

    private ForeignClose(long owner, long block, int serial, int innermost, int outer, int rawTop,
            long ids0, long ids1, long ids2, long ids3) {
        this.owner = owner;
        this.block = block;
        this.serial = serial;
        this.innermost = innermost;
        this.outer = outer;
        this.rawTop = rawTop;
        this.ids0 = ids0;
        this.ids1 = ids1;
        this.ids2 = ids2;
        this.ids3 = ids3;
    }

    /**
     * One for two of the same block. If they do not adjoin, that of the outer scope, with which the
     * inner one ends.
     */
    static ForeignClose ofBoth(ForeignClose one, ForeignClose other) {
        ForeignClose around = one.serial - other.serial <= 0 ? one : other;
        ForeignClose inside = around == one ? other : one;
        return inside.outer != around.innermost ? around
                : new ForeignClose(around.owner, around.block, around.serial, inside.innermost,
                        around.outer, around.rawTop,
                        around.ids0, around.ids1, around.ids2, around.ids3);
    }

    /**
     * Whether the scope is open if {@code top} is the innermost open one. When the innermost of
     * several was opened, no other scope was open between them: an open one with a serial in
     * between is one of them, and those around it are open, too.
     */
    boolean isOpen(int top) {
        return top - serial >= 0 && top - innermost <= 0;
    }
}
