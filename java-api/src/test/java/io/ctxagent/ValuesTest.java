package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.Misuse;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.Test;

/** Strings to ids and to raw bytes. */
public class ValuesTest extends ContextTestCase {
    private static int id(RecordingContextKey key, String value) {
        try (RecordingContext c = RecordingContext.where(key, value).build()) {
            return Slab.id(Slab.find(Threads.current()), key.slot());
        }
    }

    private static String described(RecordingContextKey key, String value) throws Exception {
        return RecordingContext.where(key, value).call(RecordingContext::describe);
    }

    @Test
    public void equalStringsHaveOneIdAndOthersAnother() {
        int id = id(A, "value");
        assertTrue(id > 0);
        assertEquals(id, id(A, new String("value")));
        assertTrue(id != id(A, "other"));
        assertTrue("the empty string is a value", id(A, "") > 0);
    }

    @Test
    public void idsStayRightWhenManyValuesShareTheTable() {
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
    public void aLongValueIsCutAtACodePointAndCounted() throws Exception {
        String text = "é".repeat(200);
        assertEquals("same id as its cut form", id(A, "é".repeat(Slab.VALUE_LIMIT / 2)), id(A, text));
        assertEquals(1, counted(Misuse.VALUE_CUT));
        id(A, text);
        assertEquals("counted each time", 2, counted(Misuse.VALUE_CUT));
        String smileys = "\uD83D\uDE00".repeat(100);
        assertEquals(id(A, "\uD83D\uDE00".repeat(Slab.VALUE_LIMIT / 4)), id(A, smileys));
    }

    @Test
    public void aLoneSurrogateIsReplacedAndCounted() {
        assertEquals(id(A, "a\uFFFDb"), id(A, "a\uD800b"));
        assertEquals(id(A, "a\uFFFD"), id(A, "a\uD800"));
        assertEquals(id(A, "\uFFFD\uFFFDx"), id(A, "\uDC00\uD800x"));
        assertEquals(3, counted(Misuse.INVALID_TEXT));
    }

    @Test
    public void aMegabyteCostsNoMoreThanItsFirstBytes() {
        String[] huge = new String[64];
        for (int i = 0; i < huge.length; i++) {
            huge[i] = new String(new char[1 << 20]).replace('\0', (char) ('a' + i % 26));
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 200; round++) {
            long start = System.nanoTime();
            for (String value : huge) {
                RecordingContext.where(A, value).build().close();
            }
            best = Math.min(best, (System.nanoTime() - start) / huge.length);
        }
        System.out.println("1 MB value: " + best + " ns");
        assertTrue(best + " ns for a value of 1 MB", best < 5_000);
        assertTrue(counted(Misuse.VALUE_CUT) >= 200 * huge.length);
    }

    @Test
    public void aRawValueLiesInTheBlock() throws Exception {
        String uuid = "123e4567-e89b-12d3-a456-426614174000";
        assertEquals("{key7=" + uuid + "}", described(RAW, uuid));
        assertEquals("{key7=}", described(RAW, ""));
        assertEquals("{key7=grün \u20AC \uD83D\uDE00}", described(RAW, "grün \u20AC \uD83D\uDE00"));
        assertEquals("{key7=\uFFFD!}", described(RAW, "\uD800!"));
        assertEquals(1, counted(Misuse.INVALID_TEXT));
        for (int length = 0; length <= Slab.RAW_LENGTH; length++) {
            String value = "0123456789".repeat(7).substring(0, length);
            assertEquals("{key7=" + value + "}", described(RAW, value));
        }
    }

    @Test
    public void rawValuesOfNestedScopesLieAboveEachOther() throws Exception {
        try (RecordingContext outer = RecordingContext.where(RAW, "0123456789").build()) {
            try (RecordingContext inner = RecordingContext.where(RAW, "abcdef").build()) {
                assertEquals("{key7=abcdef}", RecordingContext.describe());
            }
            assertEquals("{key7=0123456789}", RecordingContext.describe());
        }
    }

    @Test
    public void aRawValueIsCutToTheAreaAndIsOtherWhereTheAreaIsFull() throws Exception {
        String area = "x".repeat(Slab.RAW_LENGTH);
        assertEquals("{key7=" + area + "}", described(RAW, area + "yz"));
        assertEquals(1, counted(Misuse.VALUE_CUT));
        try (RecordingContext outer = RecordingContext.where(RAW, "x".repeat(Slab.RAW_LENGTH - 3)).build()) {
            assertEquals("{key7=abc}", described(RAW, "abc"));
            assertEquals("{key7=(other)}", described(RAW, "abcd"));
            assertEquals("{key7=(other)}", described(RAW, "\u20AC\u20AC"));
        }
        assertEquals(2, counted(Misuse.RAW_FULL));
    }

    @Test
    public void c26_aKeyWithVeryManyValuesIsWrittenRawAndStillRight() throws Exception {
        RecordingContextKey key = KEYS[6];
        for (int i = 0; i < 60_000; i++) {
            RecordingContext.where(key, "request-" + i).build().close();
        }
        assertEquals("{key6=request-now}", described(key, "request-now"));
        assertTrue("raw", Raw.isRaw(id(key, "request-again")));
        assertTrue("other keys still intern", id(A, "a new value after the flood") > 0);
        assertEquals(0, counted(Misuse.RAW_FULL));
    }

    @Test
    public void cuttingAgreesWithTheDecoderOfTheJdkOnRandomText() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            int[] points = random.ints(random.nextInt(30), 0, 4)
                    .map(kind -> new int[] {'a', 0xe9, 0x20ac, 0x1f600}[kind]).toArray();
            String text = new String(points, 0, points.length);
            int limit = random.nextInt(40);
            int end = Text.fitting(text, limit);
            String cut = text.substring(0, end);
            assertTrue(Text.wellFormed(text, end));
            assertTrue(cut.getBytes(StandardCharsets.UTF_8).length <= limit);
            if (end < text.length()) {
                String more = text.substring(0, end + Character.charCount(text.codePointAt(end)));
                assertTrue(more.getBytes(StandardCharsets.UTF_8).length > limit);
            }
            assertEquals(cut, Text.repaired(text, end));
        }
        String lone = "a\uD83Db\uDE00\uD83D\uDE00\uD83D";
        assertEquals("a\uFFFDb\uFFFD\uD83D\uDE00\uFFFD", Text.repaired(lone, lone.length()));
    }
}
