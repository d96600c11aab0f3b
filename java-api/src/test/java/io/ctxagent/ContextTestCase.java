package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assume.assumeTrue;

import io.ctxagent.internal.agent.AgentDouble;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.Slab;
import java.lang.reflect.Field;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.After;
import org.junit.Before;

/**
 * A test with the agent of this VM, or its double: empty context before and after, counters as
 * differences.
 */
public abstract class ContextTestCase {
    static {
        AgentDouble.connect();
        boolean isNative = !(Bridge.agent() instanceof AgentDouble);
        String expected = System.getProperty("ctxagent.test.agent", "double");
        if (isNative != expected.equals("native")) {
            throw new AssertionError(
                    "expected the agent to be " + expected + ", found " + Bridge.agent());
        }
    }

    /** All tests of a VM share the eight slots. */
    static final RecordingContextKey[] KEYS = new RecordingContextKey[8];

    static {
        // As the product does first: slots are taken only where contexts are on.
        if (!ContextSupport.isOn()) {
            throw new AssertionError("contexts are off");
        }
        for (int i = 0; i < KEYS.length; i++) {
            KEYS[i] = RecordingContextKey.forName("key" + i);
            RecordingContextKey.reserve(KEYS[i]);
        }
    }

    static final RecordingContextKey A = KEYS[0];
    static final RecordingContextKey B = KEYS[1];
    static final RecordingContextKey RAW = RecordingContextKey.raw("key7");

    /** Names of the agent's counters, by number: those of the constants of {@link Misuse}. */
    private static final String[] COUNTERS = counters();

    private final long[] before = new long[COUNTERS.length];

    private static String[] counters() {
        String[] names = new String[Misuse.COUNT];
        try {
            for (Field field : Misuse.class.getFields()) {
                if (!field.getName().equals("COUNT")) {
                    names[field.getInt(null)] = "api." + field.getName().toLowerCase(Locale.ROOT);
                }
            }
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
        return names;
    }

    @Before
    public final void startEmpty() {
        freeBlocksOfEndedThreads();
        assertEquals("{}", RecordingContext.describe());
        for (int i = 0; i < before.length; i++) {
            before[i] = total(i);
        }
    }

    /** The agent has done it already. */
    static void freeBlocksOfEndedThreads() {
        if (Bridge.agent() instanceof AgentDouble) {
            ((AgentDouble) Bridge.agent()).freeBlocksOfEndedThreads();
        }
    }

    @After
    public final void endEmpty() {
        assertEquals("{}", RecordingContext.describe());
        long block = Slab.find(CurrentThread.key());
        assertFalse("no scope is open", block != Slab.NONE && Slab.hasScope(block));
        if (block != Slab.NONE) {
            // As the next raw value does.
            RawScope.makeRoom(block);
            assertEquals("no raw byte is taken", 0, Slab.rawUsed(block));
        }
    }

    /** What a counter of {@link Misuse} gained in this test. */
    final long counted(int event) {
        return total(event) - before[event];
    }

    private static long total(int event) {
        if (Bridge.agent() instanceof AgentDouble) {
            return ((AgentDouble) Bridge.agent()).counted(event);
        }
        for (String line : AgentControl.execute("status").split("\n")) {
            if (line.startsWith(COUNTERS[event] + ": ")) {
                return Long.parseLong(line.substring(line.indexOf(' ') + 1).trim());
            }
        }
        return 0;
    }

    /** Runs {@code body} in a platform thread, passes on what it throws. */
    static void inThread(Body body) throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        join(new Thread(guarded(body, failure)), failure);
    }

    /** Runs {@code body} in a virtual thread; skips the test where there are none. */
    static void inVirtualThread(Body body) throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        join(virtualThread(guarded(body, failure)), failure);
    }

    static Thread virtualThread(Runnable body) throws ReflectiveOperationException {
        assumeTrue("virtual threads", Runtime.version().feature() >= 21);
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) Class.forName("java.lang.Thread$Builder")
                .getMethod("unstarted", Runnable.class)
                .invoke(builder, body);
    }

    private static Runnable guarded(Body body, AtomicReference<Throwable> failure) {
        return () -> {
            try {
                body.run();
            } catch (Throwable t) {
                failure.set(t);
            }
        };
    }

    private static void join(Thread thread, AtomicReference<Throwable> failure) throws Exception {
        thread.start();
        thread.join(60_000);
        assertEquals("thread ended", false, thread.isAlive());
        if (failure.get() != null) {
            throw new AssertionError("in " + thread, failure.get());
        }
    }

    /** What a thread does. */
    interface Body {
        void run() throws Exception;
    }
}
