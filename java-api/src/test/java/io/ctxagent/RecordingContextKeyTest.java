package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.Misuse;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.Test;

/** Names and slots. */
public class RecordingContextKeyTest extends ContextTestCase {
    @Test
    public void keyIsBoundWhereTheContextHasIt() {
        assertSame(A, RecordingContextKey.forName("key0"));
        assertEquals("key0", A.name());
        assertFalse(A.isBound());
        RecordingContext.where("key0", "a").run(() -> assertTrue(A.isBound()));
        assertTrue(A.toString(), A.toString().startsWith("key0 (slot "));
    }

    @Test
    public void onlyDescribeReadsValuesBack() {
        Set<String> texts = new TreeSet<>();
        for (Class<?> type : new Class<?>[] {
            RecordingContext.class,
            RecordingContext.Builder.class,
            RecordingContext.Snapshot.class,
            RecordingContext.Activation.class,
            RecordingContextKey.class,
            Labels.class,
            ContextTypes.class,
            ContextEvents.class
        }) {
            for (Method method : type.getDeclaredMethods()) {
                // A task's own result is Object; collections of values would be no Strings either.
                boolean answers = method.getReturnType() == String.class
                        || Iterable.class.isAssignableFrom(method.getReturnType())
                        || Map.class.isAssignableFrom(method.getReturnType());
                if (Modifier.isPublic(method.getModifiers()) && answers) {
                    texts.add(type.getSimpleName() + "." + method.getName());
                }
            }
        }
        texts.removeIf(name -> name.endsWith(".toString"));
        assertEquals(Set.of("RecordingContext.describe", "RecordingContextKey.name"), texts);
        RecordingContext.where(A, "secret")
                .run(() -> assertFalse(A.toString(), A.toString().contains("secret")));
    }

    @Test
    public void aBadNameIsRefusedWithTheReason() {
        refused("", "is empty");
        refused("x".repeat(64), "64 characters");
        refused("x".repeat(10_000), "at most 63");
        refused("1st", "'1' at position 0");
        refused("a b", "U+0020 at position 1");
        refused("nul\0", "U+0000");
        refused("größe", "U+00F6");
        refused("a+b", "'+'");
        refused("a\uD800", "U+D800");
        for (String column : new String[] {
            "startTime",
            "duration",
            "eventThread",
            "stackTrace",
            "sampledThread",
            "state",
            "contextId",
            "weight"
        }) {
            refused(column, "column that every sample has");
        }
        assertThrows(NullPointerException.class, () -> RecordingContextKey.forName(null));
        assertThrows(NullPointerException.class, () -> RecordingContext.where((String) null, "v"));
        assertThrows(
                NullPointerException.class,
                () -> RecordingContext.where((RecordingContextKey) null, "v"));
        assertThrows(
                NullPointerException.class,
                () -> RecordingContext.where(A, "v").where((RecordingContextKey) null, "v"));
        assertThrows(
                NullPointerException.class,
                () -> RecordingContext.put((RecordingContextKey) null, "v"));
        assertThrows(IllegalArgumentException.class, () -> RecordingContext.where("", "v"));
    }

    private static void refused(String name, String reason) {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> RecordingContextKey.forName(name))
                .getMessage();
        assertTrue(message, message.contains(reason));
        assertThrows(IllegalArgumentException.class, () -> RecordingContextKey.raw(name));
    }

    @Test
    public void theNinthKeyIsInertAndCounted() {
        RecordingContextKey ninth = RecordingContextKey.forName("ninth");
        try (RecordingContext c =
                RecordingContext.where(ninth, "v").where(A, "a").build()) {
            assertFalse(ninth.isBound());
            assertEquals("{key0=a}", RecordingContext.describe());
            RecordingContext.put(ninth, "v");
        }
        assertEquals(2, counted(Misuse.NO_SLOT));
        assertTrue(ninth.toString(), ninth.toString().contains("inert"));
    }

    @Test
    public void aKeyTakesItsSlotAtFirstUseOnly() {
        assertTrue(RecordingContextKey.forName("never.used").toString().contains("not used yet"));
    }

    @Test
    public void madeUpNamesDoNotFillTheHeap() {
        for (int i = 0; i < 5_000; i++) {
            RecordingContextKey.forName("made.up." + i);
        }
        assertSame("known before", A, RecordingContextKey.forName("key0"));
        try (RecordingContext c = RecordingContext.where("made.up.4999", "v").build()) {
            assertEquals("{}", RecordingContext.describe());
        }
    }
}
