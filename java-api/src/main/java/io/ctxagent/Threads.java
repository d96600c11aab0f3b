package io.ctxagent;

import io.ctxagent.internal.Bridge;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The identity of the current logical thread. Initialised only when the agent is there. */
final class Threads {
    private static final boolean KEY_FROM_AGENT = Bridge.layout().keyFromAgent;
    /** {@code Thread.threadId()}, which 17 lacks; there the agent's key is used instead. */
    private static final MethodHandle THREAD_ID = threadId();
    /** The class of all virtual threads, or {@code null} before 21. */
    private static final Class<?> VIRTUAL = virtualThreads();
    /**
     * A class of the JDK as value: a class of ours would keep its loader, which through this field keeps the entry in each thread that lives on, and so
     * itself.
     */
    private static final ThreadLocal<Long> KEYS = KEY_FROM_AGENT ? new ThreadLocal<>() : null;

    /** Refusals by the agent after which it is asked only once in so many times: it may be waiting for the VM's first mount event. */
    private static final int MANY = 128;

    private static volatile boolean virtualVerified;
    /** Racy: a rough number is enough. Up to {@link #MANY} each one is asked, from there on it goes round. */
    private static int questions;

    private Threads() {
    }

    /** Key of the current logical thread's block; 0 if it can have none. */
    static long current() {
        return KEY_FROM_AGENT ? keyFromAgent() : id(Thread.currentThread());
    }

    static boolean isVirtual() {
        return VIRTUAL != null && VIRTUAL.isInstance(Thread.currentThread());
    }

    /**
     * Whether the current thread may have a context: a virtual one only once the agent has made sure that it reads their ids right.
     * Called when a thread needs a block, not on the hot path.
     */
    static boolean hasContext(long key) {
        if (virtualVerified || !isVirtual()) {
            return true;
        }
        boolean right = isTimeToAsk() && Bridge.agent().verifyVirtual(key);
        if (right) {
            virtualVerified = true;
        }
        return right;
    }

    private static boolean isTimeToAsk() {
        int n = questions;
        questions = n < MANY ? n + 1 : MANY + (n + 1) % MANY;
        return n <= MANY;
    }

    private static long id(Thread thread) {
        return Memory.DIRECT ? DirectMemory.id(thread) : checkedId(thread);
    }

    static long checkedId(Thread thread) {
        try {
            return (long) THREAD_ID.invokeExact(thread);
        } catch (Throwable t) {
            throw t instanceof Error ? (Error) t : new AssertionError(t);
        }
    }

    private static long keyFromAgent() {
        Long key = KEYS.get();
        return key != null ? key : firstKey();
    }

    private static long firstKey() {
        long key = Bridge.agent().currentThreadKey();
        KEYS.set(key);
        return key;
    }

    private static MethodHandle threadId() {
        String name = Runtime.version().feature() >= 19 ? "threadId" : "getId";
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, name, MethodType.methodType(long.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static Class<?> virtualThreads() {
        if (Runtime.version().feature() < 21) {
            return null;
        }
        try {
            return Class.forName("java.lang.BaseVirtualThread");
        } catch (ClassNotFoundException renamed) {
            return null;
        }
    }
}
