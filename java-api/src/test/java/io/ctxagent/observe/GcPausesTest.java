package io.ctxagent.observe;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;

import org.junit.Test;

public class GcPausesTest {
    private static final long MILLI = 1_000_000;

    private final GcPauses pauses = new GcPauses();

    /** What is taken for a collection, in milliseconds: first and last moment, length. */
    private long[] taken(long beginMillis, long endMillis) {
        long[] taken = pauses.take(beginMillis * MILLI, endMillis * MILLI);
        if (taken == null) {
            return null;
        }
        return new long[] {taken[0] / MILLI, taken[1] / MILLI, taken[2] / MILLI};
    }

    private void add(long beginMillis, long endMillis) {
        pauses.add(beginMillis * MILLI, endMillis * MILLI);
    }

    @Test
    public void pausesWithinACollectionAreItsOwnOnce() {
        add(100, 110);
        add(130, 135);
        add(200, 210);
        assertArrayEquals(new long[] {100, 135, 15}, taken(98, 137));
        assertNull(taken(98, 137));
        assertArrayEquals(new long[] {200, 210, 10}, taken(201, 209));
    }

    @Test
    public void pauseThatIsLongerThanItsCollectionBelongsToIt() {
        add(50, 58);
        add(100, 160);
        add(162, 170);
        assertArrayEquals(new long[] {100, 160, 60}, taken(120, 140));
        assertArrayEquals(new long[] {50, 58, 8}, taken(50, 58));
        assertNull(taken(120, 140));
        assertArrayEquals(new long[] {162, 170, 8}, taken(162, 170));
    }
}
