package jdk.internal.javac;

import java.util.concurrent.locks.LockSupport;
import java.util.function.ObjLongConsumer;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.misc.Unsafe;

/**
 * What the agent has the JDK call in place of parking, and where an exception is created: it
 * does the same, and reports to the agent what its recording wants. The agent holds the bytes of
 * this class and defines it in {@code java.base}, beside {@link DirectMemory}, when a recording
 * wants it for the first time.
 *
 * <p>All of it runs where a virtual thread may be about to park: no lock, no other class, no
 * allocation.
 */
public final class EventEntry {
    /** In place of a time: it is an exception. */
    private static final long NO_PARK = -1;

    /**
     * Parks that take so many nanoseconds are reported; negative: none. Plain: a thread that sees
     * it late begins or ends a little later.
     */
    private static long shortest = -1;
    /** Exceptions are reported. */
    private static boolean exceptions;

    private static volatile ObjLongConsumer<Object> sink;

    private EventEntry() {}

    /** Called by the agent only. */
    @SuppressWarnings("unchecked")
    private static void turn(Object agent, long shortestNanos, boolean withExceptions) {
        sink = (ObjLongConsumer<Object>) agent;
        shortest = shortestNanos;
        exceptions = withExceptions;
    }

    public static void park(Unsafe unsafe, boolean isAbsolute, long time) {
        long least = shortest;
        if (least < 0) {
            unsafe.park(isAbsolute, time);
            return;
        }
        long begin = System.nanoTime();
        unsafe.park(isAbsolute, time);
        unparked(begin, least);
    }

    public static void parkVirtual(JavaLangAccess access) {
        long least = shortest;
        if (least < 0) {
            access.parkVirtualThread();
            return;
        }
        long begin = System.nanoTime();
        access.parkVirtualThread();
        unparked(begin, least);
    }

    public static void parkVirtual(JavaLangAccess access, long timeout) {
        long least = shortest;
        if (least < 0) {
            access.parkVirtualThread(timeout);
            return;
        }
        long begin = System.nanoTime();
        access.parkVirtualThread(timeout);
        unparked(begin, least);
    }

    private static void unparked(long begin, long least) {
        long nanos = System.nanoTime() - begin;
        if (nanos >= least) {
            report(LockSupport.getBlocker(Thread.currentThread()), nanos);
        }
    }

    private static void report(Object object, long nanos) {
        ObjLongConsumer<Object> agent = sink;
        // The other fields may be seen before this one is.
        if (agent != null) {
            agent.accept(object, nanos);
        }
    }

    /** An exception gets its stack. */
    public static void created(Object exception) {
        if (exceptions) {
            report(exception, NO_PARK);
        }
    }
}
