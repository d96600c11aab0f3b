package io.ctxagent.oracle;

/** Natives of the agent's test build (feature {@code oracle}): a record of the context that is independent of the one under test. */
public final class Truth {
    private Truth() {
    }

    /** Declares for the current OS thread that both attributes are {@code "v" + truth}; -1 = that no context is on; 0 ends it. No blocking in between. */
    public static native void declare(long truth);

    /** Sends this many signals a second to the threads in turn; 0 ends it. */
    public static native void storm(int signalsPerSecond);
}
