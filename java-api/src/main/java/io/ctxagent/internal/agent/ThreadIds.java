package io.ctxagent.internal.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** {@code Thread.threadId()}, which 17 lacks; there {@code getId()}, which may be overridden. */
final class ThreadIds {
    private ThreadIds() {}

    /** The id of a thread. Slow. */
    static long of(Thread thread) {
        if (thread.getClass() == Thread.class) {
            // Without a handle: the first one is expensive.
            return thread.getId();
        }
        try {
            return (long) handle().invokeExact(thread);
        } catch (Throwable shortage) {
            throw Rethrow.unchecked(shortage);
        }
    }

    /** The class of all virtual threads, or {@code null} before 21. */
    static Class<?> virtualThreads() {
        if (Runtime.version().feature() < 21) {
            return null;
        }
        try {
            return Class.forName("java.lang.BaseVirtualThread");
        } catch (ClassNotFoundException renamed) {
            return null;
        }
    }

    static MethodHandle handle() {
        String name = Runtime.version().feature() >= 19 ? "threadId" : "getId";
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, name, MethodType.methodType(long.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
