package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.ctxagent.internal.agent.Rethrow;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Name;
import org.junit.Test;

/** ContextSupport described by classes. */
public class ContextTypesTest extends ContextTestCase {
    /**
     * Declared as one declares an event, a class with fields and the annotations
     * of {@code jdk.jfr}.
     */
    @Test
    public void fieldsAreAttributes() {
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
    public void unregisteredTypeDoesNothing() {
        NotRegistered values = new NotRegistered();
        values.key0 = "a";
        try (RecordingContext c = values.set()) {
            assertEquals("{}", RecordingContext.describe());
        }
    }

    @Test
    public void aBadTypeIsRefusedWithTheReason() {
        refused(NotAString.class, "count is a int");
        refused(Nothing.class, "no field");
        refused(Reserved.class, "startTime");
        refused(Twice.class, "two attributes of one name");
        assertThrows(NullPointerException.class, () -> ContextTypes.register(null));
    }

    private static void refused(Class<? extends ContextType> type, String reason) {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> ContextTypes.register(type))
                .getMessage();
        assertTrue(message, message.contains(reason));
    }

    @Test
    public void providerThatThrowsDoesNotStopOthers() {
        RecordingContextKey.forName("provider.trigger");
        RecordingContext.where("provider.trigger", "v").build().close();
        ContextSupport.beforeRecording();
        assertEquals(1, Provider.CALLS.get());
        assertEquals(1, BrokenProvider.CALLS.get());
    }

    /**
     * In an application server the loaders of applications are known to their threads only, which
     * come when the recording runs.
     */
    @Test
    public void laterContextLoaderIsSearchedOnce() throws Exception {
        Loader loader = new Loader(List.of(
                LaterProvider.class.getName(),
                CheckedProvider.class.getName(),
                LastProvider.class.getName()));
        for (int i = 0; i < 2; i++) {
            String name = "later.trigger" + i;
            inThread(() -> {
                Thread.currentThread().setContextClassLoader(loader);
                RecordingContext.where(name, "v").build().close();
            });
        }
        assertEquals(1, LaterProvider.CALLS.get());
        assertEquals("a checked exception does not stop the others", 1, LastProvider.CALLS.get());
        assertEquals(1, loader.asked.get());
    }

    @Test
    public void providerOfSeveralLoadersRunsOnce() throws Exception {
        for (int i = 0; i < 3; i++) {
            Loader loader = new Loader(List.of("no.such.Provider", MadeProvider.class.getName()));
            String name = "made.trigger" + i;
            inThread(() -> {
                Thread.currentThread().setContextClassLoader(loader);
                RecordingContext.where(name, "v").build().close();
            });
            assertEquals(1, loader.asked.get());
        }
        assertEquals(1, MadeProvider.CALLS.get());
        assertEquals("constructors", 1, MadeProvider.MADE.get());
    }

    @Test
    public void unreadableLoaderIsSkipped() throws Exception {
        Loader loader = new Loader(null);
        inThread(() -> {
            Thread.currentThread().setContextClassLoader(loader);
            RecordingContext.where("unreadable.trigger", "v").build().close();
        });
        assertTrue(loader.asked.get() > 0);
    }

    /** The loader of these tests, which names other providers. */
    private static final class Loader extends ClassLoader {
        final AtomicInteger asked = new AtomicInteger();
        private final List<String> providers;

        /** {@code null}: what it knows cannot be read. */
        Loader(List<String> providers) {
            super(ContextTypesTest.class.getClassLoader());
            this.providers = providers;
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            if (!name.equals("META-INF/services/" + ContextRegistration.class.getName())) {
                return super.getResources(name);
            }
            asked.incrementAndGet();
            if (providers == null) {
                throw new IOException("on purpose");
            }
            Path file = Files.createTempFile("providers", ".txt");
            file.toFile().deleteOnExit();
            Files.write(file, providers);
            return Collections.enumeration(List.of(file.toUri().toURL()));
        }
    }

    @Test
    public void scopedValueIsAContext() throws Exception {
        assumeTrue("scoped values", Runtime.version().feature() >= 25);
        ContextTypes.register(Fits.class);
        Object scoped =
                Class.forName("java.lang.ScopedValue").getMethod("newInstance").invoke(null);
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
                seen[2] = ((Fits) Class.forName("java.lang.ScopedValue")
                                .getMethod("get")
                                .invoke(scoped))
                        .first;
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals("{key0=scoped}", seen[0]);
        assertEquals("{key0=scoped}", seen[1]);
        assertEquals("scoped", seen[2]);
        IllegalStateException thrown = new IllegalStateException("on purpose");
        assertSame(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> ContextTypes.runWhere(scoped, values, () -> {
                            throw thrown;
                        })));
        IOException checked = new IOException("on purpose");
        assertSame(
                checked,
                assertThrows(
                        IOException.class,
                        () -> ContextTypes.runWhere(scoped, values, () -> {
                            throw Rethrow.unchecked(checked);
                        })));
    }

    @Test
    public void whatIsNoScopedValueIsRefused() {
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> ContextTypes.runWhere("text", new Fits(), () -> {}))
                .getMessage();
        assertTrue(message, message.contains("java.lang.String"));
        assertThrows(NullPointerException.class, () -> ContextTypes.setBound(null));
    }

    static final class Fits extends ContextType {
        static final String CONSTANT = "no attribute";
        transient int size;

        @Name("key0")
        private String first;

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

    static final class Nothing extends ContextType {}

    static final class Reserved extends ContextType {
        @Name("startTime")
        String start;
    }

    static final class Twice extends ContextType {
        String key0;

        @Name("key0")
        String again;
    }

    /** Found by the service loader. */
    public static final class Provider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public Provider() {}

        @Override
        public void register() {
            CALLS.incrementAndGet();
        }
    }

    /** Found by the service loader of a later loader. */
    public static final class LaterProvider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public LaterProvider() {}

        @Override
        public void register() {
            CALLS.incrementAndGet();
        }
    }

    /** Named by several loaders. */
    public static final class MadeProvider implements ContextRegistration {
        static final AtomicInteger MADE = new AtomicInteger();
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public MadeProvider() {
            MADE.incrementAndGet();
        }

        @Override
        public void register() {
            CALLS.incrementAndGet();
        }
    }

    /** Throws what it does not declare, as languages without checked exceptions do. */
    public static final class CheckedProvider implements ContextRegistration {
        /** For the service loader. */
        public CheckedProvider() {}

        @Override
        public void register() {
            throw Rethrow.unchecked(new IOException("on purpose"));
        }
    }

    /** Found after that one. */
    public static final class LastProvider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public LastProvider() {}

        @Override
        public void register() {
            CALLS.incrementAndGet();
        }
    }

    /** Found by the service loader, and of no use. */
    public static final class BrokenProvider implements ContextRegistration {
        static final AtomicInteger CALLS = new AtomicInteger();

        /** For the service loader. */
        public BrokenProvider() {}

        @Override
        public void register() {
            CALLS.incrementAndGet();
            throw new IllegalStateException("on purpose");
        }
    }
}
