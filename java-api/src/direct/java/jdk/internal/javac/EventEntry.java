package jdk.internal.javac;

import java.util.concurrent.locks.LockSupport;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.misc.Unsafe;

/**
 * What the agent has the JDK call in place of parking, and where an exception is created: it does
 * the same, and tells the agent what its recording wants. The agent holds the bytes of this class
 * and defines it in {@code java.base}, beside {@link DirectMemory}, when a recording wants it for
 * the first time.
 *
 * <p>All of it runs where a virtual thread may be about to park: no lock, no other class, no
 * allocation.
 */
public final class EventEntry {
    /** The JDK's events have this where a park has no time limit, or no deadline. */
    private static final long NONE = Long.MIN_VALUE;

    /**
     * Parks that take so many nanoseconds are told; negative: none. Plain: a thread that sees it
     * late begins or ends a little later.
     */
    private static long shortest = -1;
    /** Exceptions are told. */
    private static boolean exceptions;

    private EventEntry() {}

    /** Called by the agent only. */
    private static void turn(long shortestNanos, boolean withExceptions) {
        shortest = shortestNanos;
        exceptions = withExceptions;
    }

    /** Bound by the agent. {@code blocker}: what the thread waits for, or {@code null}. */
    private static native void parked(Object blocker, long nanos, long timeout, long until);

    /** Bound by the agent. */
    private static native void thrown(Object exception);

    public static void park(Unsafe unsafe, boolean isAbsolute, long time) {
        long least = shortest;
        if (least < 0) {
            unsafe.park(isAbsolute, time);
            return;
        }
        long begin = System.nanoTime();
        unsafe.park(isAbsolute, time);
        long timeout = isAbsolute || time == 0 ? NONE : time;
        unparked(begin, least, timeout, isAbsolute ? time : NONE);
    }

    public static void parkVirtual(JavaLangAccess access) {
        long least = shortest;
        if (least < 0) {
            access.parkVirtualThread();
            return;
        }
        long begin = System.nanoTime();
        access.parkVirtualThread();
        unparked(begin, least, NONE, NONE);
    }

    public static void parkVirtual(JavaLangAccess access, long timeout) {
        long least = shortest;
        if (least < 0) {
            access.parkVirtualThread(timeout);
            return;
        }
        long begin = System.nanoTime();
        access.parkVirtualThread(timeout);
        unparked(begin, least, timeout, NONE);
    }

    private static void unparked(long begin, long least, long timeout, long until) {
        long nanos = System.nanoTime() - begin;
        if (nanos >= least) {
            parked(LockSupport.getBlocker(Thread.currentThread()), nanos, timeout, until);
        }
    }

    /** An exception gets its stack. */
    public static void created(Object exception) {
        if (exceptions) {
            thrown(exception);
        }
    }
}
