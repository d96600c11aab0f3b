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
        long block = CurrentBlock.forWriting(CurrentThread.key());
        int raw = Bridge.layout().raw;
        int index = (int) (block + raw - Memory.ORIGIN);
        Memory.putLong(block, raw, 0x1122_3344_5566_7788L);
        assertEquals(0x1122_3344_5566_7788L, Bridge.slab().getLong(index));
        assertEquals(0x1122_3344_5566_7788L, Memory.getLong(block, raw));
        assertEquals(0x5566_7788, Memory.getInt(block, raw));
        assertEquals((byte) 0x88, Memory.getByte(block, raw));
        Memory.putInt(block, raw + 4, 0x99aa_bbcc);
        Memory.putByte(block, raw + 1, (byte) 0xdd);
        assertEquals(0x99aa_bbcc_5566_dd88L, Memory.getLong(block, raw));
        assertFalse(Memory.compareAndSetLong(block, raw, 1, 2));
        assertTrue(Memory.compareAndSetLong(block, raw, 0x99aa_bbcc_5566_dd88L, 2));
        Memory.orInt(block, raw, 0x100);
        assertEquals(0x102, Memory.getInt(block, raw));
        Memory.andInt(block, raw, ~2);
        assertEquals(0x100, Memory.getLong(block, raw));
        Memory.putLong(block, raw, 0);
    }
}
