package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;

import java.lang.annotation.Annotation;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import org.junit.Assume;
import org.junit.Test;

/** An application's own events with the context of their thread, in the JDK's recording. */
public class ContextEventsTest extends ContextTestCase {
    private interface Work {
        void run() throws Exception;
    }

    private static List<RecordedEvent> recorded(Work work) throws Exception {
        Path file = Files.createTempFile("context-events", ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable("test.Fields").withoutStackTrace();
            recording.enable("test.Listed").withoutStackTrace();
            recording.enable("test.Odd").withoutStackTrace();
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
            return RecordingFile.readAllEvents(file);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    public void attributesAreFieldsOfTheEvent() throws Exception {
        List<RecordedEvent> events = recorded(() -> {
            try (RecordingContext c =
                    RecordingContext.where(A, "interned").where(RAW, "raw-1").build()) {
                commit(new Fields(), 1);
            }
            commit(new Fields(), 2);
        });
        assertEquals(2, events.size());
        assertEquals("interned", events.get(0).getString("key0"));
        assertEquals("raw-1", events.get(0).getString("request"));
        assertEquals(1, events.get(0).getInt("number"));
        assertNull("no context", events.get(1).getString("key0"));
        assertNull(events.get(1).getString("request"));
    }

    @Test
    public void whatAnotherThreadClosedIsNotShown() throws Exception {
        List<RecordedEvent> events = recorded(() -> {
            RecordingContext closed = RecordingContext.where(A, "closed").build();
            inThread(closed::close);
            commit(new Fields(), 1);
        });
        assertNull(events.get(0).getString("key0"));
        RecordingContext closed = RecordingContext.where(A, "closed").build();
        inThread(closed::close);
        assertFalse(A.isBound());
        closed = RecordingContext.where(A, "closed").build();
        inThread(closed::close);
        assertEquals("{}", RecordingContext.describe());
    }

    /**
     * The JDK's own tool joins by thread and time: what lies within an event with contextual fields
     * shows them.
     */
    @Test
    public void contextualEventsEncloseBuiltInOnes() throws Exception {
        Assume.assumeTrue("jdk.jfr.Contextual came with 25", Runtime.version().feature() >= 25);
        Class<? extends Event> type = contextualEvent();
        Path file = Files.createTempFile("contextual", ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable("test.Contextual").withoutStackTrace();
            recording.enable("jdk.ThreadSleep").withoutThreshold().withoutStackTrace();
            recording.start();
            Event event = type.getConstructor().newInstance();
            try (RecordingContext c = RecordingContext.where(A, "acme").build()) {
                event.begin();
                Thread.sleep(1);
                ContextEvents.commit(event);
            }
            Thread.sleep(1);
            recording.stop();
            recording.dump(file);
            String[] sleeps = printed(file, "jdk.ThreadSleep").split("(?=jdk\\.ThreadSleep \\{)");
            String thread = '"' + Thread.currentThread().getName() + '"';
            List<Boolean> labelled = Arrays.stream(sleeps)
                    .filter(text -> text.contains(thread))
                    .map(text -> text.contains("key0 = \"acme\""))
                    .collect(Collectors.toList());
            assertEquals(Arrays.toString(sleeps), List.of(true, false), labelled);
        } finally {
            Files.delete(file);
        }
    }

    /**
     * {@code class Around extends Event { @ContextAware @Contextual public String key0; }}, made
     * here because 17 has no such annotation.
     */
    private static Class<? extends Event> contextualEvent() throws Exception {
        Class<? extends Annotation> contextual =
                Class.forName("jdk.jfr.Contextual").asSubclass(Annotation.class);
        return new ByteBuddy()
                .subclass(Event.class)
                .name("io.ctxagent.Around")
                .modifiers(Modifier.PUBLIC)
                .annotateType(AnnotationDescription.Builder.ofType(Name.class)
                        .define("value", "test.Contextual")
                        .build())
                .defineField("key0", String.class, Modifier.PUBLIC)
                .annotateField(
                        AnnotationDescription.Builder.ofType(ContextAware.class).build(),
                        AnnotationDescription.Builder.ofType(contextual).build())
                .make()
                .load(ContextEventsTest.class.getClassLoader())
                .getLoaded();
    }

    /** What the {@code jfr} of the JDK that runs this test prints. */
    private static String printed(Path file, String event) throws Exception {
        Path jfr = Path.of(System.getProperty("java.home"), "bin", "jfr");
        Process process = new ProcessBuilder(
                        jfr.toString(), "print", "--events", event, file.toString())
                .redirectErrorStream(true)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(text, 0, process.waitFor());
        return text;
    }

    private static void commit(Fields event, int number) {
        event.number = number;
        ContextEvents.commit(event);
    }

    @Test
    public void allAttributesInOneField() throws Exception {
        List<RecordedEvent> events = recorded(() -> {
            RecordingContext.where(A, "a")
                    .where(B, "b")
                    .run(() -> ContextEvents.commit(new Listed()));
            ContextEvents.commit(new Listed());
        });
        assertEquals("key0=a, key1=b", events.get(0).getString("context"));
        assertNull(events.get(1).getString("context"));
    }

    @Test
    public void unusableFieldIsSkipped() throws Exception {
        List<RecordedEvent> events = recorded(
                () -> RecordingContext.where(A, "a").run(() -> ContextEvents.commit(new Odd())));
        assertEquals(1, events.size());
        assertEquals(7, events.get(0).getInt("number"));
        assertEquals("a", events.get(0).getString("key0"));
        assertEquals("untouched", Odd.shared);
    }

    @Name("test.Fields")
    static class Fields extends Event {
        @ContextAware
        String key0;

        @ContextAware("key7")
        String request;

        int number;
    }

    @Name("test.Listed")
    static class Listed extends Event {
        @ContextAware(ContextAware.ALL)
        String context;
    }

    @Name("test.Odd")
    static class Odd extends Event {
        @ContextAware
        int number = 7;

        @ContextAware("not a name")
        String text;

        @ContextAware
        static String shared = "untouched";

        @ContextAware
        String key0;
    }
}
