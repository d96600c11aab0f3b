package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.ctxagent.RecordingContext;
import io.ctxagent.internal.agent.Memory;
import org.junit.Before;
import org.junit.Test;

public final class AllocatedBytesTest extends ObserverTestCase {
    private static final int ROUNDS = 10_000;

    /** Kept, so that it is allocated. */
    private static byte[] kept;

    @Before
    public void hasAgent() {
        RecordingContext.where("key0", "a").build().close();
        assumeTrue("direct access", Memory.DIRECT);
    }

    /** Within the thread's buffer, at its end, outside of it, and across collections. */
    @Test
    public void memoryHasWhatTheVmSays() {
        int known = 0;
        for (int i = 0; i < ROUNDS; i++) {
            kept = new byte[i % 100 == 0 ? 1 << 20 : i % 1000];
            if (i % 2000 == 0) {
                System.gc();
            }
            long before = Memory.allocatedBytes();
            long told = ThreadCounters.allocatedBytes();
            long after = Memory.allocatedBytes();
            if (before >= 0 && after >= 0) {
                assertTrue(before + ", " + told + ", " + after, before <= told && told <= after);
                known++;
            }
        }
        assertTrue(known + " of " + ROUNDS, known > ROUNDS * 99 / 100);
    }

    @Test
    public void ofVirtualThreadsNothingIsKnown() throws Exception {
        long[] found = new long[2];
        startVirtualThread(() -> {
                    found[0] = Memory.allocatedBytes();
                    found[1] = AllocatedBytes.now();
                })
                .join();
        assertEquals(-1, found[0]);
        assertEquals(-1, found[1]);
    }
}
