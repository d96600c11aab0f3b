package io.ctxagent;

/** The filter in force, in the form that is evaluated when a context is installed or restored. */
final class Filters {
    private static volatile boolean inUse;

    private Filters() {
    }

    /** Whether a filter was ever set: until then no block has a mask to keep right. */
    static boolean inUse() {
        return inUse;
    }

    /** The event types that may carry the context that {@code block} holds. */
    static int mask(long block) {
        return Slab.ALL_EVENTS;
    }
}
