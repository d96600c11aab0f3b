package io.ctxagent.internal.block;

/**
 * The innermost timed scope of a thread, and which values changed while it was open, although no
 * recorded scope tells of it. One int in the block, for all copies of the API:
 *
 * <pre>
 * bits 0 to 7: slots that scopes had set meanwhile that are not recorded
 * bits 8 to 15: slots that were put meanwhile, or changed by a close that came too early
 * bits 16 to 31: of the scope's serial
 * </pre>
 *
 * <p>A scope that does not find its own number when it closes was not closed in order, or one in it
 * was not told: then any value may have changed.
 */
final class Frames {
    /** All slots. */
    static final int SLOTS = 0xff;
    /** All slots have changed in both ways. */
    static final int ALL = 0xffff;

    private Frames() {}

    /** That of a scope which begins. */
    static int of(int serial) {
        // Serials are even.
        return serial << 15 & ~ALL;
    }

    /**
     * Slots that scopes have set which the recording tells of, while the innermost timed scope was
     * open: a byte of its own. {@code outer}: what the scope around it had; {@code kept}: the
     * recording tells of this one, too.
     */
    static int recorded(int outer, int inner, boolean kept, int slots) {
        return outer | inner | (kept ? slots : 0);
    }

    /** The slots that had one value while a scope was open. */
    static int unchanged(int slots, int changed, int recorded) {
        return slots & ~(changed | changed >> Byte.SIZE | recorded);
    }

    /** Whether this is the frame of the scope. */
    static boolean isOf(int frame, int serial) {
        return (frame & ~ALL) == of(serial);
    }

    /** The bits of the slots that changed. */
    static int changed(int frame) {
        return frame & ALL;
    }

    /**
     * The frame around a scope that has ended. What was put in it stays. {@code kept}: a recording
     * tells of the scope and its slots.
     */
    static int after(int outer, int inner, boolean kept, int slots) {
        int unknown = kept ? changed(inner) & ~SLOTS : changed(inner) | slots;
        return outer | unknown;
    }

    /** These slots get another value, which no end of a scope takes away. */
    static void put(long block, int slots) {
        Slab.putFrame(block, Slab.frame(block) | slots << Byte.SIZE);
    }
}
