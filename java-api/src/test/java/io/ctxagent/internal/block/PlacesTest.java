package io.ctxagent.internal.block;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import io.ctxagent.ContextTestCase;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.internal.agent.BlockLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Where the blocks of threads with any ids lie: no thread here has these. */
public class PlacesTest extends ContextTestCase {
    /** Keys beyond those of the threads that run, but with the same low bits as some. */
    private static final long FIRST_KEY = 1L << 48;
    /** Below this share nobody is refused; other threads of the test JVM have a few. */
    private static final int FULL = BlockLayout.BLOCKS / 10 * 9 - 200;

    private final List<Long> claimed = new ArrayList<>();

    @Before
    public void initialise() {
        RecordingContext.where(RecordingContextKey.forName("key0"), "a").build().close();
    }

    @After
    public void release() {
        claimed.forEach(Slab::release);
    }

    private long claim(long key) {
        long block = BlockAllocator.claimNear(key, false);
        assertNotEquals("refused: " + key, Slab.NONE, block);
        claimed.add(block);
        return block;
    }

    /** The agent has the same numbers in its test. */
    @Test
    public void placesAreThoseOfTheAgent() {
        assertArrayEquals(new long[] {28_588, 34_483, 57_753, 21_965, 30_388}, placesOf(1));
        assertArrayEquals(new long[] {48_193, 34_883, 54_206, 59_455, 52_495}, placesOf(65_537));
    }

    private static long[] placesOf(long key) {
        LongStream states = LongStream.iterate(key, Slab::further).skip(1).limit(5);
        return states.map(state -> state >>> 32 & 0xffff).toArray();
    }

    private void claimAll(LongUnaryOperator keys) {
        long[] all = LongStream.range(0, FULL).map(keys).toArray();
        long[] blocks = LongStream.of(all).map(this::claim).toArray();
        for (int i = 0; i < all.length; i++) {
            assertEquals(blocks[i], Slab.find(all[i]));
        }
        assertEquals(Slab.NONE, Slab.find(FIRST_KEY - 1));
        release();
        claimed.clear();
        for (long key : all) {
            assertEquals(Slab.NONE, Slab.find(key));
        }
    }

    @Test
    public void nobodyIsRefusedInTableThatIsNotFull() {
        long size = BlockLayout.BLOCKS;
        claimAll(n -> FIRST_KEY + n);
        for (long step : new long[] {2, 32, 1_000, size / 2, size, size + 1}) {
            claimAll(n -> FIRST_KEY + n * step);
        }
        claimAll(n -> FIRST_KEY + n / 8 * size + n % 8);
    }

    @Test
    public void shortThreadsComeAndGoBesideManyThatStay() {
        int staying = BlockLayout.BLOCKS / 4 * 3;
        long[] blocks =
                LongStream.range(0, staying).map(n -> claim(FIRST_KEY + n)).toArray();
        Deque<Long> open = new ArrayDeque<>();
        for (long key = FIRST_KEY + staying; key < FIRST_KEY + 1_000_000; key++) {
            long block = BlockAllocator.claimNear(key, false);
            assertNotEquals("refused: " + key, Slab.NONE, block);
            assertEquals(block, Slab.find(key));
            open.add(block);
            if (open.size() > 100) {
                Slab.release(open.remove());
            }
        }
        open.forEach(Slab::release);
        for (int n = 0; n < staying; n++) {
            assertEquals(blocks[n], Slab.find(FIRST_KEY + n));
        }
    }

    /** Blocks that stay must not fill the table for good. */
    @Test
    public void nobodyKeepsBlockInCrowdedTable() {
        int given = 0;
        for (long key = FIRST_KEY; key < FIRST_KEY + FULL; key++) {
            long block = BlockAllocator.claimNear(key * BlockLayout.BLOCKS, true);
            claimed.add(block);
            given += Slab.isKept(block) ? 0 : 1;
            assertTrue("kept, though half is free", key > FIRST_KEY + FULL / 2 || given < 20);
        }
        assertTrue(given + " are given back", given > FULL / 100);
    }
}
