package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.InPlaceUpdate;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.Test;

/** Strings to ids and to raw bytes. */
public class ValuesTest extends ContextTestCase {
    /** Of the test of long values. */
    private static final int DISTINCT = 64;

    private static final int ROUNDS = 200;

    private static int id(RecordingContextKey key, String value) {
        try (RecordingContext c = RecordingContext.where(key, value).build()) {
            return Slab.id(Slab.find(CurrentThread.key()), key.slot());
        }
    }

    private static String described(RecordingContextKey key, String value) throws Exception {
        return RecordingContext.where(key, value).call(RecordingContext::describe);
    }

    @Test
    public void equalStringsHaveOneId() {
        int id = id(A, "value");
        assertTrue(id > 0);
        assertEquals(id, id(A, new String("value")));
        assertTrue(id != id(A, "other"));
        assertTrue("the empty string is a value", id(A, "") > 0);
    }

    /** As {@code "Aa"} and {@code "BB"}, whose hash codes are one. */
    @Test
    public void valuesOfOneHashCodeStayApart() throws Exception {
        String[] values = {"Aa", "BB"};
        assertEquals(values[0].hashCode(), values[1].hashCode());
        for (int round = 0; round < 4; round++) {
            for (String value : values) {
                // The same object, and an equal one that no table holds.
                for (String text : new String[] {value, new String(value)}) {
                    assertEquals("{" + A.name() + "=" + value + "}", described(A, text));
                }
            }
        }
        assertTrue(id(A, values[0]) != id(A, values[1]));
        assertTrue(id(B, new String(values[1])) != id(B, new String(values[0])));
    }

    @Test
    public void idsStayRightInASharedTable() {
        int[] ids = new int[3_000];
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < ids.length; i++) {
                int id = id(B, "many-" + i);
                assertTrue(round == 0 || ids[i] == id);
                ids[i] = id;
            }
        }
        assertEquals(ids.length, java.util.Arrays.stream(ids).distinct().count());
    }

    @Test
    public void longValueIsCutAndCounted() throws Exception {
        String text = "é".repeat(200);
        assertEquals(
                "same id as its cut form",
                id(A, "é".repeat(BlockLayout.VALUE_LIMIT / 2)),
                id(A, text));
        assertEquals(1, counted(Misuse.VALUE_CUT));
        id(A, text);
        assertEquals("counted each time", 2, counted(Misuse.VALUE_CUT));
        String smileys = "\uD83D\uDE00".repeat(100);
        assertEquals(id(A, "\uD83D\uDE00".repeat(BlockLayout.VALUE_LIMIT / 4)), id(A, smileys));
    }

    @Test
    public void aLoneSurrogateIsReplacedAndCounted() {
        assertEquals(id(A, "a\uFFFDb"), id(A, "a\uD800b"));
        assertEquals(id(A, "a\uFFFD"), id(A, "a\uD800"));
        assertEquals(id(A, "\uFFFD\uFFFDx"), id(A, "\uDC00\uD800x"));
        assertEquals(3, counted(Misuse.TEXT_REPLACED));
    }

    @Test
    public void megabyteCostsOnlyItsFirstBytes() {
        long large = bestOfValues(1 << 12);
        long huge = bestOfValues(1 << 20);
        // A ratio within one run: reading all of it would be 256 times as much.
        assertTrue(
                huge + " ns for a value of 1 MB, " + large + " ns for one of 4 kB",
                huge < 32 * Math.max(large, 1));
        assertTrue(counted(Misuse.VALUE_CUT) >= 2 * ROUNDS * DISTINCT);
    }

    /** Least time in ns, of many rounds, for a scope with a value of so many characters. */
    private static long bestOfValues(int length) {
        String[] values = new String[DISTINCT];
        for (int i = 0; i < values.length; i++) {
            values[i] = new String(new char[length]).replace('\0', (char) ('a' + i % 26));
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            for (String value : values) {
                RecordingContext.where(A, value).build().close();
            }
            best = Math.min(best, (System.nanoTime() - start) / values.length);
        }
        return best;
    }

    @Test
    public void aRawValueLiesInTheBlock() throws Exception {
        String uuid = "123e4567-e89b-12d3-a456-426614174000";
        assertEquals("{key7=" + uuid + "}", described(RAW, uuid));
        assertEquals("{key7=}", described(RAW, ""));
        assertEquals("{key7=grün \u20AC \uD83D\uDE00}", described(RAW, "grün \u20AC \uD83D\uDE00"));
        assertEquals("{key7=\uFFFD!}", described(RAW, "\uD800!"));
        assertEquals(1, counted(Misuse.TEXT_REPLACED));
        for (int length = 0; length <= BlockLayout.RAW_LENGTH; length++) {
            String value = "0123456789".repeat(7).substring(0, length);
            assertEquals("{key7=" + value + "}", described(RAW, value));
        }
    }

    @Test
    public void nestedRawValuesStack() throws Exception {
        try (RecordingContext outer = RecordingContext.where(RAW, "0123456789").build()) {
            try (RecordingContext inner = RecordingContext.where(RAW, "abcdef").build()) {
                assertEquals("{key7=abcdef}", RecordingContext.describe());
            }
            assertEquals("{key7=0123456789}", RecordingContext.describe());
        }
    }

    /** Trace and span twice are 96 characters, and 48 bytes of the 64. */
    @Test
    public void idsOfSpansArePacked() {
        RecordingContextKey span = new RecordingContextKey.RawKey(KEYS[5].name());
        RecordingContextKey.reserve(span);
        try {
            String first = "{key5=b7ad6b7169203331, key7=0af7651916cd43dd8448eb211c80319c}";
            String second = "{key5=00f067aa0ba902b7, key7=ffffffffffffffff0123456789abcdef}";
            try (RecordingContext outer = RecordingContext.where(
                            RAW, "0af7651916cd43dd8448eb211c80319c")
                    .where(span, "b7ad6b7169203331")
                    .build()) {
                try (RecordingContext inner = RecordingContext.where(
                                RAW, "ffffffffffffffff0123456789abcdef")
                        .where(span, "00f067aa0ba902b7")
                        .build()) {
                    assertEquals(second, RecordingContext.describe());
                    long used = Slab.rawUsed(Slab.find(CurrentThread.key()));
                    assertEquals(48, Long.bitCount(used));
                }
                assertEquals(first, RecordingContext.describe());
            }
            assertEquals(0, counted(Misuse.RAW_AREA_FULL));
        } finally {
            RecordingContextKey.reserve(KEYS[5]);
        }
    }

    @Test
    public void whatIsNoIdOfThatLengthIsText() throws Exception {
        String digits = "00f067aa0ba902b7";
        for (int at = 0; at < digits.length(); at++) {
            for (char c : new char[] {'/', ':', '@', 'A', 'F', '`', 'g', 'o', ' ', 0xb7, 0x20ac}) {
                String text = digits.substring(0, at) + c + digits.substring(at + 1);
                assertEquals("{key7=" + text + "}", described(RAW, text));
                assertEquals("{key7=" + text + text + "}", described(RAW, text + text));
            }
        }
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void twoRawValuesChangeAtOnce() {
        int place = RAW.place();
        int spanPlace = KEYS[5].place();
        for (int i = 0; i < 1_000; i++) {
            String trace = String.format("%032x", i * 0x9e37_79b9_7f4aL);
            String span = trace.substring(16);
            InPlaceUpdate.putRaw(place, trace, spanPlace, span);
            assertEquals("{key5=" + span + ", key7=" + trace + "}", RecordingContext.describe());
        }
        InPlaceUpdate.putRaw(place, null, spanPlace, null);
        assertEquals("{}", RecordingContext.describe());
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void valueOfAScopeIsRefinedWithinIt() {
        InPlaceUpdate.refine(A.place(), "without a scope");
        assertEquals("{}", RecordingContext.describe());
        try (RecordingContext outer = RecordingContext.where(A, "GET").build()) {
            InPlaceUpdate.refine(A.place(), "GET /orders");
            assertEquals("{" + A.name() + "=GET /orders}", RecordingContext.describe());
            try (RecordingContext inner = RecordingContext.where(A, "inner").build()) {
                InPlaceUpdate.refine(A.place(), "inner, refined");
            }
            assertEquals("{" + A.name() + "=GET /orders}", RecordingContext.describe());
        }
        assertEquals("{}", RecordingContext.describe());
        RecordingContext.put(A, "put");
        InPlaceUpdate.refine(A.place(), "not a scope's");
        assertEquals("{" + A.name() + "=put}", RecordingContext.describe());
        RecordingContext.remove(A);
    }

    @Test
    public void rawValueIsCutOrOther() throws Exception {
        String area = "x".repeat(BlockLayout.RAW_LENGTH);
        assertEquals("{key7=" + area + "}", described(RAW, area + "yz"));
        assertEquals(1, counted(Misuse.VALUE_CUT));
        try (RecordingContext outer = RecordingContext.where(
                        RAW, "x".repeat(BlockLayout.RAW_LENGTH - 3))
                .build()) {
            assertEquals("{key7=abc}", described(RAW, "abc"));
            assertEquals("{key7=(other)}", described(RAW, "abcd"));
            assertEquals("{key7=(other)}", described(RAW, "\u20AC\u20AC"));
        }
        assertEquals(2, counted(Misuse.RAW_AREA_FULL));
    }

    @Test
    public void keyWithVeryManyValuesIsWrittenRaw() throws Exception {
        RecordingContextKey key = KEYS[6];
        for (int i = 0; i < 60_000; i++) {
            RecordingContext.where(key, "request-" + i).build().close();
        }
        assertEquals("{key6=request-now}", described(key, "request-now"));
        assertTrue("raw", RawArea.isRaw(id(key, "request-again")));
        assertTrue("other keys still intern", id(A, "a new value after the flood") > 0);
        assertEquals(0, counted(Misuse.RAW_AREA_FULL));
    }

    /**
     * Within the limit in characters and beyond it in bytes: such values have no entry of their
     * own.
     */
    @Test
    public void cutValuesOfOneKeyDoNotFillTheDictionary() throws Exception {
        RecordingContextKey.InternedKey many = new RecordingContextKey.InternedKey(KEYS[5].name());
        try {
            String tail = "\u044f".repeat(190);
            for (int i = 0; i < 70_000; i++) {
                RecordingContext.where(many, i + tail).build().close();
            }
            assertEquals("{key1=new}", described(B, "new"));
            assertTrue("interned", id(B, "newer") > 0);
            assertEquals(0, counted(Misuse.VALUE_OTHER));
        } finally {
            RecordingContextKey.reserve(KEYS[5]);
        }
    }

    @Test
    public void cuttingAgreesWithTheJdkOnRandomText() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            int[] points = random.ints(random.nextInt(30), 0, 4)
                    .map(kind -> new int[] {'a', 0xe9, 0x20ac, 0x1f600}[kind])
                    .toArray();
            String text = new String(points, 0, points.length);
            int limit = random.nextInt(40);
            int end = Utf8.fitting(text, limit);
            String cut = text.substring(0, end);
            assertTrue(Utf8.wellFormed(text, end));
            assertTrue(cut.getBytes(StandardCharsets.UTF_8).length <= limit);
            if (end < text.length()) {
                String more = text.substring(0, end + Character.charCount(text.codePointAt(end)));
                assertTrue(more.getBytes(StandardCharsets.UTF_8).length > limit);
            }
            assertEquals(cut, Utf8.repaired(text, end));
        }
        String lone = "a\uD83Db\uDE00\uD83D\uDE00\uD83D";
        assertEquals("a\uFFFDb\uFFFD\uD83D\uDE00\uFFFD", Utf8.repaired(lone, lone.length()));
    }
}
