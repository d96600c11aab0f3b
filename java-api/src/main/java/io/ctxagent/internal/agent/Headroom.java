package io.ctxagent.internal.agent;

/**
 * Memory and stack that must be free before code begins that must not fail half-way: class
 * initialisers, and the hand-over of a block.
 */
public final class Headroom {
    /** For the initialisers of our classes and of those of the JDK that we are the first to use. */
    private static final int BYTES = 256 * 1024;
    /** For the same; a frame of {@link #requireStack} takes more than a hundred bytes. */
    private static final int FRAMES = 512;

    private Headroom() {}

    /** Throws the {@link OutOfMemoryError} here if not enough memory is free. */
    public static void requireMemory() {
        byte[] free = new byte[BYTES];
        free[BYTES - 1] = 1;
    }

    /** Whether {@link #requireMemory} would return. */
    public static boolean hasMemory() {
        try {
            requireMemory();
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
    }

    /**
     * Throws the {@link StackOverflowError} here if the stack does not suffice for initialisers.
     */
    public static void requireStack() {
        requireStack(FRAMES);
    }

    /** Throws the {@link StackOverflowError} here if so many frames do not fit. */
    public static void requireStack(int frames) {
        descend(frames, 0, 0, 0, 0);
    }

    /** The last arguments make frames larger. */
    private static long descend(int frames, long a, long b, long c, long d) {
        return frames == 0 ? a + b + c + d : 1 + descend(frames - 1, b, c, d, a);
    }
}
