package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.AgentDouble;
import io.ctxagent.internal.agent.Bridge;
import java.util.Map;
import org.junit.Test;

public class GcEntriesTest extends ObserverTestCase {
    @Test
    public void forcedCollectionIsTold() throws Exception {
        Received received = new Received();
        observer(received).observe(EntryType.GC);
        long before = System.nanoTime();
        System.gc();
        Entry entry;
        GcDetail detail;
        do {
            entry = received.next();
            detail = (GcDetail) entry.detail();
        } while (!detail.cause().equals("System.gc()"));
        assertEquals(EntryType.GC, entry.type());
        assertTrue(entry.toString(), detail.flags().contains(GcDetail.Flag.FORCED));
        assertTrue(entry.toString(), !entry.name().isEmpty() && detail.number() > 0);
        assertEquals(Map.of(), entry.context());
        long after = System.nanoTime();
        // The VM tells times in milliseconds, the agent in nanoseconds.
        boolean isExact = !(Bridge.agent() instanceof AgentDouble);
        long tolerance = isExact ? 0 : 2_000_000;
        long begin = entry.startNanos();
        long end = begin + entry.duration().toNanos();
        assertTrue(entry.toString(), begin >= before - tolerance);
        assertTrue(entry.toString(), end <= after + tolerance);
        assertTrue(entry.duration().compareTo(detail.pause()) >= 0);
        if (isExact) {
            assertTrue(entry.toString(), detail.pause().toNanos() > 0);
            assertTrue(entry.toString(), detail.pause().toNanos() % 1_000_000 != 0);
        }
    }
}
