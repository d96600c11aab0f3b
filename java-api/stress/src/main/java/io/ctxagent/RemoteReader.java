package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.RecentValues;
import java.lang.invoke.VarHandle;

/**
 * The contexts that the stress tests write, and what a reader on another thread makes of them. In
 * this package for the block's own operations.
 */
final class RemoteReader {
    /** What a read shows. */
    static final int NOTHING = 0;

    static final int WHOLE = 1;
    static final int CHANGED = 2;
    static final int MIXED = 3;

    static final String LEFT = "left";
    static final String RIGHT = "right";
    static final String RAW_LEFT = "llllllllllllllll";
    static final String RAW_RIGHT = "rrrrrrrrrrrrrrrr";

    static final RecordingContextKey A = RecordingContextKey.forName("a");
    static final RecordingContextKey B = RecordingContextKey.forName("b");
    static final RecordingContextKey RAW = RecordingContextKey.raw("c");
    static final int SLOT_A = A.slot();
    static final int SLOT_B = B.slot();
    static final int SLOT_RAW = RAW.slot();
    static final int LEFT_ID = RecentValues.idOf(A.place(), LEFT);
    static final int RIGHT_ID = RecentValues.idOf(A.place(), RIGHT);

    /** The block of the thread that writes. */
    private static volatile long writersBlock;

    private RemoteReader() {}

    /** Called by the writer, with a context installed. */
    private static void publishBlock() {
        long block = Slab.find(CurrentThread.key());
        if (writersBlock != block) {
            writersBlock = block;
        }
    }

    /**
     * A writer: nested scopes of two attributes. A test and its control write the same, and differ
     * in how they read.
     */
    static void writeNested() {
        try (RecordingContext left =
                RecordingContext.where(A, LEFT).where(B, LEFT).build()) {
            publishBlock();
            RecordingContext.where(A, RIGHT).where(B, RIGHT).build().close();
        }
    }

    /** A writer: scopes with a raw value, one after the other in the same bytes. */
    static void writeRaw() {
        try (RecordingContext left =
                RecordingContext.where(A, LEFT).where(RAW, RAW_LEFT).build()) {
            publishBlock();
        }
        RecordingContext.where(A, RIGHT).where(RAW, RAW_RIGHT).build().close();
    }

    static long block() {
        return writersBlock;
    }

    /** A read by the protocol: the sequence even, and the same before and after. */
    static int read(long block) {
        if (block == Slab.NONE) {
            return NOTHING;
        }
        int before = Slab.sequence(block);
        VarHandle.acquireFence();
        int seen = ids(block);
        VarHandle.acquireFence();
        return (before & 1) != 0 || Slab.sequence(block) != before ? CHANGED : seen;
    }

    /** Control: a read that does not check for changes in between. */
    static int readOnce(long block) {
        return block == Slab.NONE ? NOTHING : ids(block);
    }

    /** Whether the ids of both attributes belong together. */
    private static int ids(long block) {
        int a = Slab.id(block, SLOT_A);
        int b = Slab.id(block, SLOT_B);
        return a != b ? MIXED : a == 0 ? NOTHING : WHOLE;
    }

    /** The same for a raw value and the attribute that was installed with it. */
    static int readRaw(long block, boolean check) {
        if (block == Slab.NONE) {
            return NOTHING;
        }
        int before = Slab.sequence(block);
        VarHandle.acquireFence();
        int seen = raw(block);
        VarHandle.acquireFence();
        return check && ((before & 1) != 0 || Slab.sequence(block) != before) ? CHANGED : seen;
    }

    private static int raw(long block) {
        int a = Slab.id(block, SLOT_A);
        int id = Slab.id(block, SLOT_RAW);
        if (a == 0 && id == 0) {
            return NOTHING;
        }
        if (!RawArea.isRaw(id)
                || RawArea.length(id) != RAW_LEFT.length()
                || RawArea.offset(id) + RawArea.length(id) > BlockLayout.RAW_LENGTH) {
            return MIXED;
        }
        char letter = a == LEFT_ID ? 'l' : a == RIGHT_ID ? 'r' : '?';
        for (int i = 0; i < RAW_LEFT.length(); i++) {
            if (Slab.rawByte(block, RawArea.offset(id) + i) != letter) {
                return MIXED;
            }
        }
        return WHOLE;
    }

    // ---- blocks without a thread, for claims ----------------------------------------------------

    /** No thread has such an id. */
    static final long FIRST = 1L << 60;

    static final long SECOND = FIRST + 1;

    /**
     * Reads whose block it is and what is in it: an owner's block must never show the other
     * owner's id.
     */
    static int readOwner(long block, boolean check) {
        int before = Slab.sequence(block);
        VarHandle.acquireFence();
        // Between two reads of the same number, as the agent's reader does: later it could be the
        // first owner's again.
        long owner = Slab.owner(block);
        int id = Slab.id(block, SLOT_A);
        VarHandle.acquireFence();
        if (check && ((before & 1) != 0 || Slab.sequence(block) != before)) {
            return CHANGED;
        }
        if (owner == 0 || id == 0) {
            return NOTHING;
        }
        return id == (owner == FIRST ? LEFT_ID : RIGHT_ID) ? WHOLE : MIXED;
    }

    /** Lives through one owner's time in a block: claims it, installs a context, gives it back. */
    static void occupy(long block, long owner) {
        if (Slab.claim(block, owner, false)) {
            int number = Slab.fresh(block);
            Slab.begin(block, number);
            Slab.putId(block, SLOT_A, owner == FIRST ? LEFT_ID : RIGHT_ID);
            Slab.end(block, number);
            Slab.release(block);
        }
    }
}
