package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Name;
import org.junit.Test;

/** Contexts described by classes. */
public class ContextTypesTest extends ContextTestCase {
    /** Rows D5, D6, D18: declared as one declares an event, a class with fields and the annotations of {@code jdk.jfr}. */
    @Test
    public void d5_d6_d18_fieldsAreAttributes() {
        assertTrue(ContextTypes.register(Fits.class));
        assertTrue("twice", ContextTypes.register(Fits.class));
        Fits values = new Fits();
        values.first = "one";
        values.key1 = "two";
        try (RecordingContext c = values.set()) {
            assertEquals("{key0=one, key1=two}", RecordingContext.describe());
            values.first = null;
            try (RecordingContext inner = values.set()) {
                assertEquals("{key1=two}", RecordingContext.describe());
            }
        }
    }

    @Test
    public void aTypeThatDoesNotFitTakesNothing() {
        assertFalse(ContextTypes.register(TooMany.class));
        try (RecordingContext c = new TooMany().set()) {
            assertEquals("{}", RecordingContext.describe());
        }
    }

    @Test
    public void aTypeThatIsNotRegisteredDoesNothing() {
        NotRegistered values = new NotRegistered();
        values.key0 = "a";
        try (RecordingContext c = values.set()) {
            assertEquals("{}", RecordingContext.describe());
        }
    }

    @Test
    public void d2_aBadTypeIsRefusedWithTheReason() {
        refused(NotAString.class, "count is a int");
        refused(Nothing.class, "no field");
        refused(Reserved.class, "startTime");
        refused(Twice.class, "two attributes of one name");
        assertThrows(NullPointerException.class, () -> ContextTypes.register(null));
    }

    private static void refused(Class<? extends ContextType> type, String reason) {
        String message = assertThrows(IllegalArgumentException.class, () -> ContextTypes.register(type)).getMessage();
        assertTrue(message, message.contains(reason));
    }

    @Test
    public void d8_providersAreFoundOnceAndOneThatThrowsDoesNotStopTheOthers() {
        RecordingContextKey.forName("provider.trigger");
        RecordingContext.where("provider.trigger", "v").build().close();
        io.ctxagent.internal.Bridge.beforeRecording();
        assertEquals(1, Provider.CALLS.get());
        assertEquals(1, BrokenProvider.CALLS.get());
    }

    @Test
    public void d17_aScopedValueOfAContextTypeIsAContext() throws Exception {
        assumeTrue("scoped values", Runtime.version().feature() >= 25);
        ContextTypes.register(Fits.class);
        Object scoped = Class.forName("java.lang.ScopedValue").getMethod("newInstance").invoke(null);
        Fits values = new Fits();
        values.first = "scoped";
        try (RecordingContext c = ContextTypes.setBound(scoped)) {
            assertEquals("not bound", "{}", RecordingContext.describe());
        }
        String[] seen = new String[3];
        ContextTypes.runWhere(scoped, values, () -> {
            seen[0] = RecordingContext.describe();
            RecordingContext.where(A, null).run(() -> {
                try (RecordingContext c = ContextTypes.setBound(scoped)) {
                    seen[1] = RecordingContext.describe();
                }
            });
            try {
                seen[2] = ((Fits) Class.forName("java.lang.ScopedValue").getMethod("get").invoke(scoped)).first;
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals("{key0=scoped}", seen[0]);
        assertEquals("{key0=scoped}", seen[1]);
        assertEquals("scoped", seen[2]);
        IllegalStateException thrown = new IllegalStateException("on purpose");
        assertSame(thrown, assertThrows(IllegalStateException.class, () -> ContextTypes.runWhere(scoped, values, () -> {
            throw thrown;
        })));
    }

    @Test
    public void d17_whatIsNoScopedValueIsRefused() {
        String message = assertThrows(IllegalArgumentException.class, () -> ContextTypes.runWhere("text", new Fits(), () -> { })).getMessage();
        assertTrue(message, message.contains("java.lang.String"));
        assertThrows(NullPointerException.class, () -> ContextTypes.setBound(null));
    }

    static final class Fits extends ContextType {
        static final String CONSTANT = "no attribute";
        transient int size;
        @Name("key0") private String first;
        String key1;
    }

    static final class TooMany extends ContextType {
        String key0 = "a";
        String another = "b";
    }

    static final class NotRegistered extends ContextType {
        String key0;
    }

    static final class NotAString extends ContextType {
        int count;
    }

    static final class Nothing extends ContextType {
    }

    static final class Reserved extends ContextType {
        @Name("startTime") String start;
    }

    static final class Twice extends ContextType {
        String key0;
        @Name("key0") String again;
    }

    /** Found by the service loader. */
    public static final class Provider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public Provider() {
        }

        @Override
        public void register() {
            CALLS.incrementAndGet();
        }
    }

    /** Found by the service loader, and of no use. */
    public static final class BrokenProvider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public BrokenProvider() {
        }

        @Override
        public void register() {
            CALLS.incrementAndGet();
            throw new IllegalStateException("on purpose");
        }
    }
}
