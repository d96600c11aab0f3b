package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.AttributeNames;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Name;
import org.junit.After;
import org.junit.Test;

/**
 * Every bad input that the API may meet, one test each: what is wrong at set-up throws and says
 * why, what is wrong at run time is repaired and counted. After each, the next scope is right.
 */
public class BadInputTest extends ContextTestCase {
    @After
    public void theNextScopeIsRight() {
        try (RecordingContext c = RecordingContext.where(A, "next").build()) {
            assertEquals("{key0=next}", RecordingContext.describe());
        }
    }

    /** Each way to name an attribute refuses {@code name} with {@code reason}. */
    private static void refused(String name, String reason) {
        List<org.junit.function.ThrowingRunnable> ways = List.of(
                () -> RecordingContextKey.forName(name),
                () -> RecordingContextKey.raw(name),
                () -> RecordingContext.where(name, "v"),
                () -> RecordingContext.where(A, "a").where(name, "v"),
                () -> RecordingContext.put(name, "v"),
                () -> RecordingContext.remove(name),
                () -> Labels.run(() -> {}, "key0", "a", name, "v"));
        for (org.junit.function.ThrowingRunnable way : ways) {
            String message = assertThrows(IllegalArgumentException.class, way).getMessage();
            assertTrue(message, message.contains(reason));
            assertEquals("nothing was installed", "{}", RecordingContext.describe());
        }
    }

    @Test
    public void reservedWordsAsNames() {
        for (String word : AttributeNames.reserved()) {
            refused(word, "column that every sample has");
        }
        assertTrue(assertThrows(
                        IllegalArgumentException.class, () -> ContextTypes.register(Reserved.class))
                .getMessage()
                .contains("contextId"));
    }

    @Test
    public void emptyNames() {
        refused("", "is empty");
    }

    @Test
    public void namesOfTenKilobytes() {
        refused("n".repeat(10_240), "has 10240 characters, at most 63");
    }

    @Test
    public void nulInNamesAndValues() {
        refused("a\0b", "U+0000 at position 1");
        for (RecordingContextKey key : new RecordingContextKey[] {A, RAW}) {
            try (RecordingContext c = RecordingContext.where(key, "a\0b").build()) {
                assertEquals("{" + key.name() + "=a\0b}", RecordingContext.describe());
            }
        }
    }

    @Test
    public void loneSurrogatesInNamesAndValues() {
        refused("a\uDC00", "U+DC00 at position 1");
        RecordingContext.where(RAW, "x\uD800y")
                .run(() -> assertEquals("{key7=x\uFFFDy}", RecordingContext.describe()));
        assertEquals(1, counted(Misuse.TEXT_REPLACED));
        // An interned value is described as the application gave it, and recorded as its repaired
        // form.
        int[] ids = new int[2];
        RecordingContext.where(A, "x\uD800y")
                .run(() -> ids[0] = Slab.id(Slab.find(CurrentThread.key()), A.slot()));
        RecordingContext.where(A, "x\uFFFDy")
                .run(() -> ids[1] = Slab.id(Slab.find(CurrentThread.key()), A.slot()));
        assertEquals(ids[1], ids[0]);
        assertEquals(2, counted(Misuse.TEXT_REPLACED));
    }

    @Test
    public void emptyAndHugeValues() {
        RecordingContext.where(A, "")
                .where(RAW, "")
                .run(() -> assertEquals("{key0=, key7=}", RecordingContext.describe()));
        RecordingContext.where(RAW, "é".repeat(10_000))
                .run(() ->
                        assertEquals("{key7=" + "é".repeat(32) + "}", RecordingContext.describe()));
        assertEquals(1, counted(Misuse.VALUE_CUT));
    }

    @Test
    public void theNinthAttributeInEachForm() {
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            pairs.add(i < 8 ? KEYS[i].name() : "bad.input.ninth");
            pairs.add("v" + i);
        }
        String eight = "{key0=v0, key1=v1, key2=v2, key3=v3, key4=v4, key5=v5, key6=v6, key7=v7}";
        Labels.run(
                () -> assertEquals(eight, RecordingContext.describe()),
                pairs.toArray(new String[0]));
        assertEquals(1, counted(Misuse.NO_SLOT));
        RecordingContext.put("bad.input.ninth", "v");
        RecordingContext.remove("bad.input.ninth");
        assertEquals("{}", RecordingContext.describe());
        assertEquals(3, counted(Misuse.NO_SLOT));
        assertFalse("a context type with a ninth attribute", ContextTypes.register(Ninth.class));
    }

    @Test
    public void contextTypeFieldsMustBeStrings() {
        for (Class<? extends ContextType> type :
                List.of(WithNumber.class, WithObject.class, WithArray.class)) {
            String message = assertThrows(
                            IllegalArgumentException.class, () -> ContextTypes.register(type))
                    .getMessage();
            assertTrue(message, message.contains("attributes are Strings"));
        }
    }

    @Test
    public void registrationIsIdempotent() throws Exception {
        AtomicInteger registered = new AtomicInteger();
        CountDownLatch together = new CountDownLatch(4);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(new Thread(() -> {
                together.countDown();
                try {
                    together.await();
                } catch (InterruptedException e) {
                    return;
                }
                if (ContextTypes.register(Fits.class)) {
                    registered.incrementAndGet();
                }
            }));
            threads.get(i).start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(4, registered.get());
        assertTrue(ContextTypes.register(Fits.class));
        Fits values = new Fits();
        values.key1 = "one";
        try (RecordingContext c = values.set()) {
            assertEquals("{key1=one}", RecordingContext.describe());
        }
    }

    @Test
    public void aFilterWhoseCallbackThrows() {
        RecordingContextFilter before = RecordingContextFilter.Config.contextFilter();
        RecordingContextFilter.Builder builder =
                RecordingContextFilter.Config.createFilter().forAllTypes(t -> t.hasKey(A));
        for (Throwable thrown : new Throwable[] {
            new IllegalStateException("on purpose"), new AssertionError("on purpose")
        }) {
            assertEquals(
                    thrown,
                    assertThrows(
                            Throwable.class,
                            () -> builder.forType("jdk.ExecutionSample", t -> {
                                t.hasNoContext();
                                sneak(thrown);
                            })));
        }
        // Half of a condition is none: the builder is as it was.
        assertEquals(1, builder.build().conditionsOf("jdk.ExecutionSample").size());
        assertEquals(before, RecordingContextFilter.Config.contextFilter());
    }

    private static void sneak(Throwable thrown) {
        if (thrown instanceof Error) {
            throw (Error) thrown;
        }
        throw (RuntimeException) thrown;
    }

    @Test
    public void foreignCloseOfEachKindOfScope() throws Exception {
        RecordingContext scope = RecordingContext.where(A, "mine").build();
        inThread(scope::close);
        RecordingContext.where(B, "b").build().close();
        assertEquals("{}", RecordingContext.describe());
        RecordingContext.Activation activation =
                RecordingContext.where(A, "a").call(RecordingContext::snapshot).activate();
        inThread(activation::close);
        RecordingContext.where(B, "b").build().close();
        assertEquals("{}", RecordingContext.describe());
        assertEquals(2, counted(Misuse.CLOSE_ON_OTHER_THREAD));
    }

    @Test
    public void millionNestedScopesEndAfterTheOutermost() {
        int depth = 1_000_000;
        RecordingContext[] open = new RecordingContext[depth];
        for (int i = 0; i < depth; i++) {
            open[i] = RecordingContext.where(A, (i & 1) == 0 ? "even" : "odd")
                    .where(RAW, "x")
                    .build();
        }
        open[0].close();
        for (int i = depth - 1; i > 0; i--) {
            if (i % (depth / 8) == 1) {
                assertEquals(
                        i > 64 ? "{key0=odd, key7=(other)}" : "{key0=odd, key7=x}",
                        RecordingContext.describe());
            }
            open[i].close();
        }
        assertEquals("{}", RecordingContext.describe());
        assertEquals(1, counted(Misuse.CLOSE_OUT_OF_ORDER));
    }

    static final class Reserved extends ContextType {
        @Name("contextId")
        String id;
    }

    static final class Ninth extends ContextType {
        String key0;

        @Name("bad.input.ninth")
        String ninth;
    }

    static final class WithNumber extends ContextType {
        String key0;
        long count;
    }

    static final class WithObject extends ContextType {
        Object value;
    }

    static final class WithArray extends ContextType {
        String[] values;
    }

    static final class Fits extends ContextType {
        String key1;
    }
}
