package io.ctxagent.internal.agent;

/**
 * The event types of the event mask in a block. The agent has the same table.
 *
 * <p>No constant array: an initialiser could fail for want of memory, and then fails each time.
 */
public final class EventBits {
    /** Event types, the one that stands for all others included. */
    public static final int COUNT = 7;

    private static final int OTHERS_BIT = 31;

    private EventBits() {}

    /** The bit of the event type at this place as a mask. */
    public static int bit(int at) {
        return 1 << (at < COUNT - 1 ? at : OTHERS_BIT);
    }

    /** The name of the event type at this place; empty for all others. */
    public static String name(int at) {
        switch (at) {
            case 0:
                return "jdk.ExecutionSample";
            case 1:
                return "profiler.WallClockSample";
            case 2:
                return "jdk.ObjectAllocationSample";
            case 3:
                return "jdk.JavaMonitorEnter";
            case 4:
                return "jdk.ThreadPark";
            case 5:
                return "jdk.JavaExceptionThrow";
            default:
                return "";
        }
    }
}
