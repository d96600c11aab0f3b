package io.ctxagent.internal.agent;

import java.lang.invoke.MethodHandle;
import jdk.internal.javac.DirectMemory;

/** The identity of the current logical thread. Initialised only when the agent is there. */
public final class CurrentThread {
    /** Of {@link ThreadIds} with checked access, else {@code null}. */
    private static final MethodHandle THREAD_ID;
    /** The class of all virtual threads, or {@code null} before 21. */
    private static final Class<?> VIRTUAL;
    /**
     * {@code null} where threads tell their ids, see {@link PreparedMemory}. Values of a class of
     * the JDK: one of ours would keep its loader, which through this field keeps the entry in each
     * thread that lives on, and so itself.
     */
    private static final ThreadLocal<Long> KEYS;

    static {
        // Nothing that can fail, see ContextSupport.
        PreparedMemory p = PreparedMemory.instance();
        THREAD_ID = p.threadId;
        VIRTUAL = p.virtualThreads;
        KEYS = p.keys;
    }

    /**
     * Refusals by the agent after which it is asked only once in so many times: it may be waiting
     * for the VM's first mount event.
     */
    private static final int ALWAYS_ASKED = 128;

    private static volatile boolean virtualVerified;
    /**
     * Racy: a rough number is enough. Each one up to {@link #ALWAYS_ASKED} is asked; from there on
     * the number goes round.
     */
    private static int questions;

    private CurrentThread() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}

    /** Key of the current logical thread's block; 0 if it can have none. */
    public static long key() {
        return KEYS == null ? id(Thread.currentThread()) : keyFromAgent(CompilerRules.KEEP_CALL);
    }

    /** Whether the current thread is a virtual one. */
    public static boolean isVirtual() {
        return VIRTUAL != null && VIRTUAL.isInstance(Thread.currentThread());
    }

    /**
     * Whether the current thread may have a context: a virtual one only once the agent has made
     * sure that it reads their ids right. Called when a thread needs a block, not on the hot path.
     */
    public static boolean mayHaveContext(long key) {
        if (virtualVerified || !isVirtual()) {
            return true;
        }
        boolean verified = isTimeToAsk() && Bridge.agent().verifyVirtual(key);
        if (verified) {
            virtualVerified = true;
        }
        return verified;
    }

    private static boolean isTimeToAsk() {
        int n = questions;
        questions = n < ALWAYS_ASKED ? n + 1 : ALWAYS_ASKED + (n + 1) % ALWAYS_ASKED;
        return n <= ALWAYS_ASKED;
    }

    private static long id(Thread thread) {
        return Memory.DIRECT ? DirectMemory.id(thread) : checkedId(thread);
    }

    private static long checkedId(Thread thread) {
        try {
            return (long) THREAD_ID.invokeExact(thread);
        } catch (Throwable t) {
            throw t instanceof Error ? (Error) t : new AssertionError(t);
        }
    }

    /** A kept call (rule 5 of {@link CompilerRules}): inlined, it is a tenth of a scope's code. */
    private static long keyFromAgent(int callsLeft) {
        if (callsLeft > 0) {
            return keyFromAgent(callsLeft - 1);
        }
        Long key = KEYS.get();
        return key != null ? key : firstKey();
    }

    private static long firstKey() {
        long key = Bridge.agent().currentThreadKey();
        try {
            KEYS.set(key);
        } catch (OutOfMemoryError full) {
            // The agent is asked again.
        }
        return key;
    }
}
