package io.ctxagent.internal.block;

/**
 * Whether an application that opens a scope has more to do than usual: there is a filter, or
 * somebody watches scopes. One load instead of two.
 */
public final class ExtraWork {
    private static volatile boolean any;
    private static boolean filters;
    private static boolean watches;

    private ExtraWork() {}

    /** Whether there is any. */
    public static boolean any() {
        return any;
    }

    /** From now on there is a filter. */
    static synchronized void filters() {
        filters = true;
        any = true;
    }

    /** Whether somebody watches. */
    public static synchronized void watches(boolean now) {
        watches = now;
        any = filters || watches;
    }
}
