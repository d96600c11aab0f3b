package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.Test;

/** The API in a VM without an agent: it does nothing, and closures just run. */
public class NoAgentTest {
    private static final RecordingContextKey KEY = RecordingContextKey.forName("key");
    private static final int SCOPES = 10_000;
    private static final long MAX_NANOS = 20;

    @Test
    public void nothingIsActive() {
        assertFalse(ContextSupport.isOn());
        ContextSupport.agentLoaded();
        assertFalse(ContextSupport.isOn());
    }

    @Test
    public void contextsDoNothing() throws Exception {
        try (RecordingContext c =
                RecordingContext.where(KEY, "a").where("other", null).build()) {
            assertFalse(KEY.isBound());
            assertEquals("{}", RecordingContext.describe());
            c.close();
        }
        RecordingContext.put(KEY, "a");
        RecordingContext.remove("other");
        assertEquals("ran", RecordingContext.where(KEY, "a").call(() -> "ran"));
        assertEquals("ran", Labels.call(() -> "ran", "key", "a"));
        RecordingContext.where(KEY, "a").run(() -> {});
    }

    @Test
    public void snapshotsDoNothing() throws Exception {
        RecordingContext.Snapshot s = RecordingContext.snapshot();
        s.activate().close();
        assertEquals("ran", RecordingContext.callWithSnapshot(() -> "ran", s));
        RecordingContext.runWithSnapshot(() -> {}, s);
        Runnable task = () -> {};
        Callable<String> call = () -> "ran";
        Supplier<String> supplier = () -> "ran";
        assertSame(task, RecordingContext.wrap(task));
        assertSame(call, RecordingContext.wrap(call));
        assertSame(supplier, RecordingContext.wrap(supplier));
        Function<String, Integer> function = String::length;
        assertSame(function, RecordingContext.wrap(function));
        Thread[] made = new Thread[1];
        ThreadFactory factory = work -> made[0] = new Thread(work);
        assertSame(RecordingContext.wrap(factory).newThread(task), made[0]);
    }

    @Test
    public void setUpMisuseThrowsHereToo() {
        assertThrows(
                NullPointerException.class,
                () -> RecordingContext.where((RecordingContextKey) null, "v"));
        assertThrows(IllegalArgumentException.class, () -> RecordingContext.where("state", "v"));
        assertThrows(NullPointerException.class, () -> RecordingContext.wrap((Runnable) null));
    }

    @Test
    public void commandsSayThatThereIsNoAgent() {
        String message = assertThrows(
                        IllegalStateException.class, () -> AgentControl.execute("status"))
                .getMessage();
        assertTrue(message, message.contains("-agentpath"));
    }

    @Test
    public void itCostsNothingButABranch() {
        long best = Long.MAX_VALUE;
        long end = System.nanoTime() + 60_000_000_000L;
        // Until it is compiled: on a busy machine the compiler may get no processor for long.
        do {
            long start = System.nanoTime();
            for (int i = 0; i < SCOPES; i++) {
                RecordingContext.where(KEY, "a").where(KEY, "b").build().close();
            }
            best = Math.min(best, System.nanoTime() - start);
        } while (best >= SCOPES * MAX_NANOS && System.nanoTime() < end);
        System.out.println("no agent: " + (double) best / SCOPES + " ns a scope");
        assertTrue((double) best / SCOPES + " ns", best < SCOPES * MAX_NANOS);
    }
}
