package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** Closures with names and values. */
public class LabelsTest extends ContextTestCase {
    @Test
    public void theTaskRunsWithAllPairs() throws Exception {
        assertEquals(
                "{key0=a, key1=b}",
                Labels.call(RecordingContext::describe, "key0", "a", "key1", "b"));
        Labels.run(() -> assertTrue(A.isBound()), "key0", "a");
        assertEquals("{}", Labels.call(RecordingContext::describe));
    }

    @Test
    public void aMissingValueAndABadNameAreRefused() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> Labels.run(() -> {}, "key0"))
                .getMessage();
        assertTrue(message, message.contains("pairs"));
        assertThrows(
                NullPointerException.class, () -> Labels.run(() -> {}, "key0", "a", null, "b"));
        assertThrows(NullPointerException.class, () -> Labels.run(null, "key0", "a"));
        assertThrows(IllegalArgumentException.class, () -> Labels.run(() -> {}, "startTime", "a"));
    }
}
