package io.ctxagent.internal.block;

/**
 * The filter in force, in the form that is evaluated when a context is installed or put back: one
 * bit per event type.
 */
public final class EventFilter {
    private static volatile boolean inUse;
    private static volatile Conditions conditions;
    /** {@link #conditions} resolved to slots and ids; made when a context is first installed. */
    private static volatile EventCondition[] resolved;

    private EventFilter() {}

    /** A filter as the application made it. */
    public interface Conditions {
        /** Resolves keys and values to slots and ids. */
        EventCondition[] resolve();

        /** Tells the agent the mask of threads without a context: they have no block for it. */
        void announce();
    }

    /** Puts a filter in force. */
    public static synchronized void set(Conditions next) {
        conditions = next;
        resolved = null;
        inUse = true;
        ExtraWork.set(ExtraWork.FILTER, true);
        next.announce();
    }

    /** The filter in force, or {@code null} if none was set. */
    public static Conditions conditions() {
        return conditions;
    }

    /** Whether a filter was ever set: until then no block has a mask to keep right. */
    public static boolean inUse() {
        return inUse;
    }

    /** {@link #inUse}; after a {@code true}, {@link #mask} is ready. Called before the sequence. */
    public static boolean prepare() {
        if (inUse && resolved == null) {
            resolve();
        }
        return inUse;
    }

    private static synchronized void resolve() {
        if (resolved == null) {
            resolved = conditions.resolve();
            // Once more: the filter may be older than the agent.
            conditions.announce();
        }
    }

    /**
     * The event types that may carry the context in {@code block}. Called in the sequence: does not
     * allocate or throw.
     */
    public static int mask(long block) {
        int mask = Slab.ALL_EVENTS;
        EventCondition[] all = resolved;
        if (all != null) {
            boolean context = BlockContents.hasValue(block);
            for (EventCondition condition : all) {
                if (!condition.holds(block, context)) {
                    mask &= ~condition.bit;
                }
            }
        }
        return mask;
    }
}
