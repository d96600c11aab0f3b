package io.ctxagent.internal.block;

/**
 * What an application that opens a scope, or puts a value, has to do beyond that: a bit for each
 * kind. Mostly nothing, which is one load to know.
 */
public final class ExtraWork {
    /** There is a filter. */
    public static final int FILTER = 1;
    /** Somebody watches how scopes are used. */
    public static final int WATCH = 1 << 1;
    /** A recording wants scopes that take long. */
    static final int RECORD = 1 << 2;
    /** The application observes scopes. */
    static final int OBSERVE = 1 << 3;

    private static volatile int kinds;

    private ExtraWork() {}

    /** What there is, a bit each. */
    public static int kinds() {
        return kinds;
    }

    /** Whether there is any. */
    static boolean any() {
        return kinds != 0;
    }

    /** Whether somebody watches how scopes are used. */
    public static boolean isWatched() {
        return (kinds & WATCH) != 0;
    }

    /** Whether somebody wants to know how long scopes are open. */
    static boolean isTimed() {
        return (kinds & (RECORD | OBSERVE)) != 0;
    }

    /** From now on there is work of this kind, or no more. */
    public static synchronized void set(int kind, boolean now) {
        kinds = now ? kinds | kind : kinds & ~kind;
    }
}
