package io.ctxagent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Memory;
import io.ctxagent.internal.block.CurrentBlock;
import org.junit.Test;

/** Loads and stores, both ways. */
public class MemoryTest extends ContextTestCase {
    @Test
    public void accessIsDirectUnlessConfigured() {
        assertEquals(!"checked".equals(System.getProperty("io.ctxagent.memory")), Memory.DIRECT);
    }

    @Test
    public void eachAccessHitsItsBytes() {
        long at = CurrentBlock.forWriting(CurrentThread.key()) + Bridge.layout().raw;
        int index = (int) (at - Memory.ORIGIN);
        Memory.putLong(at, 0x1122_3344_5566_7788L);
        assertEquals(0x1122_3344_5566_7788L, Bridge.slab().getLong(index));
        assertEquals(0x1122_3344_5566_7788L, Memory.getLong(at));
        assertEquals(0x5566_7788, Memory.getInt(at));
        assertEquals((byte) 0x88, Memory.getByte(at));
        Memory.putInt(at + 4, 0x99aa_bbcc);
        Memory.putByte(at + 1, (byte) 0xdd);
        assertEquals(0x99aa_bbcc_5566_dd88L, Memory.getLong(at));
        assertFalse(Memory.compareAndSetLong(at, 1, 2));
        assertTrue(Memory.compareAndSetLong(at, 0x99aa_bbcc_5566_dd88L, 2));
        Memory.orInt(at, 0x100);
        assertEquals(0x102, Memory.getInt(at));
        Memory.andInt(at, ~2);
        assertEquals(0x100, Memory.getLong(at));
        Memory.putLong(at, 0);
    }
}
