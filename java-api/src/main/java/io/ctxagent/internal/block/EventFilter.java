package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;

/**
 * The filter in force, in the form that is evaluated when a context is installed or put back: one
 * bit per event type.
 */
public final class EventFilter {
    private static volatile EventFilter current;

    private final Conditions conditions;
    /** {@link #conditions} resolved to slots and ids; {@code null} until contexts are on. */
    private volatile EventCondition[] resolved;

    private EventFilter(Conditions conditions, EventCondition[] resolved) {
        this.conditions = conditions;
        this.resolved = resolved;
    }

    /** A filter as the application made it. */
    public interface Conditions {
        /** Resolves keys and values to slots and ids, for which it may run providers. */
        EventCondition[] resolve();

        /** The event types that may be recorded without a context, a bit each. */
        int maskWithoutContext();
    }

    /** Puts a filter in force. {@code isOn}: contexts are on, so that it can be resolved. */
    public static void set(Conditions next, boolean isOn) {
        EventFilter filter = new EventFilter(next, isOn ? next.resolve() : null);
        current = filter;
        ExtraWork.set(ExtraWork.FILTER, true);
        announce(filter);
    }

    /** The filter in force, or {@code null} if none was set. */
    public static Conditions conditions() {
        EventFilter filter = current;
        return filter == null ? null : filter.conditions;
    }

    /** Whether a filter was ever set: until then no block has a mask to keep right. */
    public static boolean inUse() {
        return current != null;
    }

    /**
     * {@link #inUse}; after a {@code true}, {@link #mask} is ready. Called before the sequence,
     * without any lock.
     */
    public static boolean prepare() {
        EventFilter filter = current;
        if (filter != null && filter.resolved == null) {
            // By several threads, perhaps: all find the same.
            filter.resolved = filter.conditions.resolve();
            // Once more: the filter may be older than the agent.
            announce(filter);
        }
        return filter != null;
    }

    /**
     * Tells the agent the mask of threads without a context: they have no block for it. Once more
     * if another filter came meanwhile, so that the last one told is the one in force.
     */
    private static void announce(EventFilter first) {
        EventFilter told = null;
        for (EventFilter next = first; next != told; next = current) {
            told = next;
            if (Bridge.isConnected()) {
                Bridge.agent().filterWithoutContext(told.conditions.maskWithoutContext());
            }
        }
    }

    /**
     * The event types that may carry the context in {@code block}. Called in the sequence: does not
     * allocate or throw.
     */
    public static int mask(long block) {
        int mask = Slab.ALL_EVENTS;
        EventFilter filter = current;
        EventCondition[] all = filter == null ? null : filter.resolved;
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
