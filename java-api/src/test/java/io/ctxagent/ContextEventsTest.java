package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
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
    public void d9_d11_attributesAreFieldsOfTheEvent() throws Exception {
        List<RecordedEvent> events = recorded(() -> {
            try (RecordingContext c = RecordingContext.where(A, "interned").where(RAW, "raw-1").build()) {
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

    private static void commit(Fields event, int number) {
        event.number = number;
        ContextEvents.commit(event);
    }

    @Test
    public void d9_d11_allAttributesAreOneListInTheEvent() throws Exception {
        List<RecordedEvent> events = recorded(() -> {
            RecordingContext.where(A, "a").where(B, "b").run(() -> ContextEvents.commit(new Listed()));
            ContextEvents.commit(new Listed());
        });
        assertEquals("key0=a, key1=b", events.get(0).getString("context"));
        assertNull(events.get(1).getString("context"));
    }

    @Test
    public void aFieldThatCannotTakeItIsLeftAloneAndTheEventIsCommitted() throws Exception {
        List<RecordedEvent> events = recorded(() -> RecordingContext.where(A, "a").run(() -> ContextEvents.commit(new Odd())));
        assertEquals(1, events.size());
        assertEquals(7, events.get(0).getInt("number"));
        assertEquals("a", events.get(0).getString("key0"));
    }

    @Name("test.Fields")
    static class Fields extends Event {
        @ContextAware String key0;
        @ContextAware("key7") String request;
        int number;
    }

    @Name("test.Listed")
    static class Listed extends Event {
        @ContextAware(ContextAware.ALL) String context;
    }

    @Name("test.Odd")
    static class Odd extends Event {
        @ContextAware int number = 7;
        @ContextAware("not a name") String text;
        @ContextAware String key0;
    }
}
