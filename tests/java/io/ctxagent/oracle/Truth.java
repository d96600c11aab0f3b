package io.ctxagent.oracle;

/**
 * Natives of the agent's test build (feature {@code oracle}): a record of the context that is
 * independent of the one under test. A context is named by a number: its attributes all have the
 * value {@code "v" + number}, {@link #NONE} has none. What is declared holds for the current OS
 * thread, so nothing may block until it is taken back with {@link #declare declare(0)}.
 */
public final class Truth {
    /** No context is on. */
    public static final int NONE = -1;
    /** A bug for {@link #plant}: the handler reads a block that is being written. */
    public static final int IGNORE_SEQUENCE = 1;
    /** The same: the handler does not ask who owns a block. */
    public static final int IGNORE_OWNER = 2;
    /** The same: the VM's tables lead to the id of another virtual thread. */
    public static final int WRONG_ID = 3;

    private Truth() {}

    /** This context is on; 0 = nothing is said. */
    public static native void declare(int context);

    /** One of these is on, whole, or none and the sample says that it met a change. */
    public static native void change(int from, int to);

    /**
     * What a reader on the calling thread sees of another thread's context: 0 none, 1 all three
     * attributes agree, 2 it was being written, 3 they do not agree.
     */
    public static native int beside(long thread);

    /** Gives the agent a bug. */
    public static native void plant(int bug);

    /** Sends this many signals a second to the threads in turn; 0 ends it. */
    public static native void storm(int signalsPerSecond);
}
