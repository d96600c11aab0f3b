package io.ctxagent;

import io.ctxagent.RecordingContextFilter.Condition;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.intern.AttributeEntry;
import java.util.List;

/** The filter in force, in the form that is evaluated when a context is installed or put back. */
final class Filters {
    /** Event types by their bit in the event mask, see {@link #type}; the last bit stands for all others. The agent has the same table. */
    private static final int TYPES = 9;
    private static final String ALL_OTHERS = "";
    private static final int OTHERS_BIT = 31;

    private static volatile boolean inUse;
    private static volatile RecordingContextFilter filter;
    /** {@link #filter} resolved to slots and ids; {@code null} until a context is installed under it. */
    private static volatile Test[] tests;

    private Filters() {
    }

    /** The name of the event type with this bit. No constant array: an initialiser could fail, see {@link ContextSupport}. */
    private static String type(int bit) {
        switch (bit) {
            case 0:
                return "jdk.ExecutionSample";
            case 1:
                return "jdk.NativeMethodSample";
            case 2:
                return "profiler.WallClockSample";
            case 3:
                return "jdk.ObjectAllocationSample";
            case 4:
                return "jdk.ObjectAllocationInNewTLAB";
            case 5:
                return "jdk.ObjectAllocationOutsideTLAB";
            case 6:
                return "jdk.JavaMonitorEnter";
            case 7:
                return "jdk.ThreadPark";
            case 8:
                return "ctxagent.ContextSpan";
            default:
                return ALL_OTHERS;
        }
    }

    static RecordingContextFilter current() {
        return filter;
    }

    static synchronized void set(RecordingContextFilter next) {
        filter = next;
        tests = null;
        inUse = true;
        tellAgent();
    }

    /** Threads without a context have no block to carry a mask: the agent keeps theirs. */
    private static void tellAgent() {
        if (ContextSupport.isOn()) {
            Bridge.agent().filterWithoutContext(maskWithoutContext(filter));
        }
    }

    static int maskWithoutContext(RecordingContextFilter filter) {
        int mask = Slab.ALL_EVENTS;
        for (int i = 0; filter != null && i <= TYPES; i++) {
            boolean named = i < TYPES;
            for (Condition condition : filter.conditionsOf(type(i))) {
                if (condition.kind != Condition.NO_CONTEXT) {
                    mask &= ~(1 << (named ? i : OTHERS_BIT));
                }
            }
        }
        return mask;
    }

    /**
     * Whether a filter was ever set: until then no block has a mask to keep right. Called before the sequence; after a
     * {@code true}, {@link #mask} is ready.
     */
    static boolean inUse() {
        return inUse && resolved();
    }

    private static boolean resolved() {
        if (tests == null) {
            resolve();
        }
        return true;
    }

    private static synchronized void resolve() {
        if (tests == null) {
            RecordingContextFilter f = filter;
            Test[] resolved = new Test[f == null ? 0 : TYPES + 1];
            for (int i = 0; i < resolved.length; i++) {
                boolean named = i < TYPES;
                resolved[i] = new Test(1 << (named ? i : OTHERS_BIT), f.conditionsOf(type(i)));
            }
            tests = resolved;
            // Once more: the filter may be older than the agent.
            tellAgent();
        }
    }

    /** The event types that may carry the context that {@code block} holds. In the sequence: no allocation, nothing thrown. */
    static int mask(long block) {
        int mask = Slab.ALL_EVENTS;
        Test[] all = tests;
        if (all != null) {
            boolean context = (Slab.ids(block, 0) | Slab.ids(block, 1) | Slab.ids(block, 2) | Slab.ids(block, 3)) != 0;
            for (Test test : all) {
                if (!test.holds(block, context)) {
                    mask &= ~test.bit;
                }
            }
        }
        return mask;
    }

    /** The conditions of one event type. */
    private static final class Test {
        final int bit;
        private final int[] kinds;
        private final int[] slots;
        private final int[] ids;
        private final byte[][] values;

        Test(int bit, List<Condition> conditions) {
            this.bit = bit;
            int n = conditions.size();
            kinds = new int[n];
            slots = new int[n];
            ids = new int[n];
            values = new byte[n][];
            for (int i = 0; i < n; i++) {
                Condition c = conditions.get(i);
                kinds[i] = c.kind;
                slots[i] = c.key == null ? -1 : c.key.slot();
                if (c.value != null) {
                    ids[i] = slots[i] < 0 ? AttributeEntry.TO_RAW : (int) c.key.entry(c.value);
                    values[i] = Raw.bytes(c.value);
                }
            }
        }

        boolean holds(long block, boolean context) {
            for (int i = 0; i < kinds.length; i++) {
                if (!holds(block, context, i)) {
                    return false;
                }
            }
            return true;
        }

        private boolean holds(long block, boolean context, int i) {
            switch (kinds[i]) {
                case Condition.CONTEXT:
                    return context;
                case Condition.NO_CONTEXT:
                    return !context;
                case Condition.KEY:
                    return slots[i] >= 0 && Slab.id(block, slots[i]) != 0;
                default:
                    return slots[i] >= 0 && isEntry(block, Slab.id(block, slots[i]), i);
            }
        }

        private boolean isEntry(long block, int id, int i) {
            if (id == ids[i]) {
                return true;
            }
            byte[] value = values[i];
            if (!Raw.isRaw(id) || Raw.length(id) != value.length) {
                return false;
            }
            for (int at = 0; at < value.length; at++) {
                if (Slab.rawByte(block, Raw.offset(id) + at) != value[at]) {
                    return false;
                }
            }
            return true;
        }
    }
}
