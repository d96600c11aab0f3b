package io.ctxagent.internal.event;

import java.util.function.ObjLongConsumer;

/**
 * What {@code EventEntry} reports to: the agent itself. It is no class of {@code java.base}, as
 * the VM would warn when the agent binds a native of such a one.
 */
public final class EventSink implements ObjLongConsumer<Object> {
    private EventSink() {}

    /** Called by the agent only. */
    private static Object make() {
        return new EventSink();
    }

    /**
     * Bound by the agent. What the current thread waited for, or {@code null}, and how many
     * nanoseconds; or an exception that it creates, and a negative number.
     */
    @Override
    public native void accept(Object object, long nanos);
}
