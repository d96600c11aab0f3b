package io.ctxagent;

import io.ctxagent.internal.Bridge;
import io.ctxagent.internal.Layout;
import io.ctxagent.internal.Misuse;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The context blocks and the protocol to write them ({@code docs/memory-model.md}). A block is named by its offset in the
 * slab. Initialised only when the agent is there, so that the compiler folds all numbers below into the code.
 *
 * <p>Only the thread that owns a block writes it, except for the {@link #FOREIGN_CLOSE} bit. A signal handler may read the block
 * between any two instructions of that thread: what it must see together is written between {@link #begin} and
 * {@link #end}. Nothing in between may throw, block, or initialise a class.
 */
final class Slab {
    static final ByteBuffer MEMORY = Bridge.slab();
    static final int RAW_BIT;
    static final int OVERFLOW_ID;
    static final int RAW_LENGTH;
    static final int VALUE_LIMIT;
    static final int SLOTS = 8;
    /** The mask of a block that no filter looked at: every event type may carry the context. */
    static final int ALL_EVENTS = -1;

    private static final int FOREIGN_CLOSE = 1 << 8;
    /** The byte of the flags word that holds {@link #FOREIGN_CLOSE}; the byte before it is the raw top. */
    private static final int FOREIGN;
    private static final int STRIDE;
    private static final int MASK;
    private static final int PROBE_LIMIT;
    private static final int OWNER;
    private static final int SEQ;
    private static final int FLAGS;
    private static final int IDS;
    private static final int EVENT_MASK;
    private static final int TOP;
    private static final int NEXT;
    private static final int RAW;
    private static final int RAW_TOP;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    static {
        Layout l = Bridge.layout();
        RAW_BIT = l.rawBit;
        OVERFLOW_ID = l.overflowId;
        RAW_LENGTH = l.rawLength;
        VALUE_LIMIT = l.valueLimit;
        FOREIGN = l.flags + 1;
        STRIDE = l.stride;
        MASK = l.blocks - 1;
        PROBE_LIMIT = l.probeLimit;
        OWNER = l.owner;
        SEQ = l.seq;
        FLAGS = l.flags;
        IDS = l.ids;
        EVENT_MASK = l.eventMask;
        TOP = l.topSerial;
        NEXT = l.nextSerial;
        RAW = l.raw;
        RAW_TOP = l.rawTop;
    }

    private Slab() {
    }

    // ---- finding a block -----------------------------------------------------------------------------------------

    /** The block of the thread with this key, or -1. */
    static int find(long key) {
        int first = (((int) key) & MASK) * STRIDE;
        return MEMORY.getLong(first + OWNER) == key && key != 0 ? first : findFurther(key);
    }

    private static int findFurther(long key) {
        if (key != 0) {
            for (int i = 1; i < PROBE_LIMIT; i++) {
                int block = (((int) key + i) & MASK) * STRIDE;
                if (MEMORY.getLong(block + OWNER) == key) {
                    return block;
                }
            }
        }
        return -1;
    }

    /** The block of the current thread, whose key this is: a new one if it has none, -1 and counted if none is free. */
    static int findOrAcquire(long key) {
        int block = find(key);
        return block >= 0 ? block : acquire(key);
    }

    private static int acquire(long key) {
        if (key != 0) {
            for (int i = 0; i < PROBE_LIMIT; i++) {
                int block = (((int) key + i) & MASK) * STRIDE;
                // The CAS pairs with the release store of the owner word: we see the zeros that the last owner left.
                if (MEMORY.getLong(block + OWNER) == 0 && LONGS.compareAndSet(MEMORY, block + OWNER, 0L, key)) {
                    MEMORY.putInt(block + EVENT_MASK, ALL_EVENTS);
                    return block;
                }
            }
        }
        Bridge.count(Misuse.NO_FREE_BLOCK);
        return -1;
    }

    /** Gives the current thread's block back. */
    static void release(int block) {
        int odd = begin(block);
        for (int pair = 0; pair < SLOTS / 2; pair++) {
            putIds(block, pair, 0);
        }
        MEMORY.putInt(block + FLAGS, 0);
        MEMORY.putInt(block + TOP, 0);
        MEMORY.putInt(block + EVENT_MASK, 0);
        end(block, odd);
        // Last: from here on the block is another's.
        LONGS.setRelease(MEMORY, block + OWNER, 0L);
    }

    static long owner(int block) {
        return (long) LONGS.getAcquire(MEMORY, block + OWNER);
    }

    // ---- the sequence --------------------------------------------------------------------------------------------

    /** Makes the sequence odd: readers keep off. Returns what {@link #end} needs. */
    static int begin(int block) {
        // "| 1" also heals a sequence that an asynchronous exception left odd.
        int odd = MEMORY.getInt(block + SEQ) | 1;
        INTS.setOpaque(MEMORY, block + SEQ, odd);
        VarHandle.storeStoreFence();
        return odd;
    }

    /** Makes the sequence even: what was written since {@link #begin} is published. */
    static void end(int block, int odd) {
        INTS.setRelease(MEMORY, block + SEQ, odd + 1);
    }

    // ---- the fields of a block -----------------------------------------------------------------------------------

    /** Value ids of the slots 2 * pair (low half) and 2 * pair + 1 (high half). */
    static long ids(int block, int pair) {
        return MEMORY.getLong(block + IDS + pair * Long.BYTES);
    }

    static void putIds(int block, int pair, long ids) {
        MEMORY.putLong(block + IDS + pair * Long.BYTES, ids);
    }

    static int id(int block, int slot) {
        return MEMORY.getInt(block + IDS + slot * Integer.BYTES);
    }

    /**
     * Writes one value id. As a long, like all others: a long load soon after an int store of its half would have to
     * wait for the store to reach the cache.
     */
    static void putId(int block, int slot, int id) {
        int at = block + IDS + (slot >> 1) * Long.BYTES;
        int shift = (slot & 1) << 5;
        long others = MEMORY.getLong(at) & ~(0xffff_ffffL << shift);
        MEMORY.putLong(at, others | (id & 0xffff_ffffL) << shift);
    }

    static int top(int block) {
        return MEMORY.getInt(block + TOP);
    }

    static void putTop(int block, int serial) {
        MEMORY.putInt(block + TOP, serial);
    }

    /** The serial of a new scope; never 0, which means "none". */
    static int nextSerial(int block) {
        int serial = MEMORY.getInt(block + NEXT) + 1;
        return serial != 0 ? serial : 1;
    }

    static void putNext(int block, int serial) {
        MEMORY.putInt(block + NEXT, serial);
    }

    static int eventMask(int block) {
        return MEMORY.getInt(block + EVENT_MASK);
    }

    static void putEventMask(int block, int mask) {
        MEMORY.putInt(block + EVENT_MASK, mask);
    }

    /** Bytes of the raw area in use. */
    static int rawTop(int block) {
        return MEMORY.get(block + RAW_TOP) & 0xff;
    }

    /** A byte store, so that it cannot undo another thread's {@link #markForeignClose}. */
    static void putRawTop(int block, int top) {
        MEMORY.put(block + RAW_TOP, (byte) top);
    }

    static byte rawByte(int block, int offset) {
        return MEMORY.get(block + RAW + offset);
    }

    static void putRawByte(int block, int offset, int value) {
        MEMORY.put(block + RAW + offset, (byte) value);
    }

    static void putRawLong(int block, int offset, long bytes) {
        MEMORY.putLong(block + RAW + offset, bytes);
    }

    // ---- closes by other threads ---------------------------------------------------------------------------------

    static boolean hasForeignClose(int block) {
        return MEMORY.get(block + FOREIGN) != 0;
    }

    static void markForeignClose(int block) {
        INTS.getAndBitwiseOr(MEMORY, block + FLAGS, FOREIGN_CLOSE);
    }

    static void clearForeignClose(int block) {
        INTS.getAndBitwiseAnd(MEMORY, block + FLAGS, ~FOREIGN_CLOSE);
    }
}
