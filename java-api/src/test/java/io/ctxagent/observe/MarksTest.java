package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.observe.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.Test;

public class MarksTest extends ObserverTestCase {
    @Test
    public void measuresLieBetweenMarks() {
        long before = System.nanoTime();
        Entry first = Marks.mark("a");
        Entry start = Marks.mark("a");
        Entry end = Marks.mark("b");
        long after = System.nanoTime();
        assertTrue(before <= first.startNanos() && first.startNanos() <= start.startNanos());
        assertTrue(end.startNanos() <= after);
        Entry between = Marks.measure("between", "a", "b");
        assertEquals("the last mark counts", start.startNanos(), between.startNanos());
        assertEquals(end.startNanos() - start.startNanos(), between.duration().toNanos());
        assertTrue(Marks.measure("back", "b", "a").duration().compareTo(Duration.ZERO) <= 0);
        Entry since = Marks.measure("since", "a");
        assertTrue(since.duration().compareTo(between.duration()) >= 0);
        Entry sinceStart = Marks.measure("all");
        assertTrue(sinceStart.duration().compareTo(since.duration()) > 0);
        assertTrue(sinceStart.startTime().isBefore(Instant.now()));
        assertEquals(7, Marks.getEntries().size());
        assertEquals("all", Marks.getEntries().get(0).name());
    }

    @Test
    public void unknownMarkGivesNoMeasure() {
        Marks.mark("known");
        assertNull(Marks.measure("m", "unknown"));
        assertNull(Marks.measure("m", "known", "unknown"));
        Marks.clearMarks("known");
        assertNull(Marks.measure("m", "known"));
        assertEquals(List.of(), Marks.getEntries());
    }

    @Test
    public void nameIsCutAndNullRefused() {
        String pairs = "\ud83d\ude00".repeat(500_000);
        Entry mark = Marks.mark(pairs);
        assertEquals(pairs.substring(0, 254), mark.name());
        assertEquals(mark.name(), Marks.measure(pairs, pairs).name());
        assertEquals("", Marks.mark("").name());
        assertThrows(NullPointerException.class, () -> Marks.mark(null));
        assertThrows(NullPointerException.class, () -> Marks.measure("m", null));
        assertThrows(NullPointerException.class, () -> Marks.measure(null, ""));
        assertThrows(NullPointerException.class, () -> Marks.clearMarks(null));
    }

    @Test
    public void millionMarksLeaveTheNewest() {
        for (int i = 0; i < 1_000_000; i++) {
            Marks.mark("m" + i);
        }
        List<Entry> kept = Marks.getEntries();
        assertEquals(Timeline.CAPACITY, kept.size());
        assertEquals("m999999", kept.get(kept.size() - 1).name());
        assertNull("it is gone", Marks.measure("m", "m0"));
        Marks.clearMeasures();
        assertEquals(Timeline.CAPACITY, Marks.getEntries().size());
        Marks.clearMarks();
        assertEquals(List.of(), Marks.getEntries());
    }

    @Test
    public void clearedNameLeavesOthers() {
        Marks.mark("a");
        Marks.mark("b");
        Marks.measure("a", "a");
        Marks.clearMeasures("a");
        Marks.clearMarks("a");
        assertEquals(1, Marks.getEntries().size());
        assertEquals("b", Marks.getEntries().get(0).name());
    }
}
