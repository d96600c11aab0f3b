package io.ctxagent.internal.block;

import static io.ctxagent.internal.agent.BlockLayout.BLOCKS;
import static io.ctxagent.internal.agent.BlockLayout.EVENT_MASK;
import static io.ctxagent.internal.agent.BlockLayout.FLAGS;
import static io.ctxagent.internal.agent.BlockLayout.IDS;
import static io.ctxagent.internal.agent.BlockLayout.KEY_FROM_AGENT;
import static io.ctxagent.internal.agent.BlockLayout.NEXT_SERIAL;
import static io.ctxagent.internal.agent.BlockLayout.OWNER;
import static io.ctxagent.internal.agent.BlockLayout.PROBE_LIMIT;
import static io.ctxagent.internal.agent.BlockLayout.RAW;
import static io.ctxagent.internal.agent.BlockLayout.RAW_TOP;
import static io.ctxagent.internal.agent.BlockLayout.SEQUENCE;
import static io.ctxagent.internal.agent.BlockLayout.SLOTS;
import static io.ctxagent.internal.agent.BlockLayout.STRIDE;
import static io.ctxagent.internal.agent.BlockLayout.TOP_SERIAL;

import io.ctxagent.internal.agent.Headroom;
import io.ctxagent.internal.agent.Memory;
import java.lang.invoke.VarHandle;

/**
 * The context blocks and the protocol to write them ({@code docs/contributing/memory-model.md}). A
 * block is named by its address. Initialised only when the agent is there, see rule 1 of {@link
 * io.ctxagent.internal.agent.CompilerRules}.
 *
 * <p>Only the thread that owns a block writes it, except for the {@link #FOREIGN_CLOSE} bit. A
 * signal handler may read the block between any two instructions of that thread: what it must see
 * together is written between {@link #begin} and {@link #end}. Nothing in between may block,
 * allocate, or initialise a class, nor throw but a {@link StackOverflowError}; the owner finds that
 * at its next call ({@link #isInterrupted}).
 */
public final class Slab {
    /** No block. */
    public static final long NONE = 0;
    /** The mask without a filter: every event type may carry the context. */
    public static final int ALL_EVENTS = -1;

    /**
     * {@link Memory#ORIGIN}. Not final on purpose, see rule 2 of {@link
     * io.ctxagent.internal.agent.CompilerRules}.
     */
    private static long origin = Memory.ORIGIN;

    /** More stack than {@link #takeOver} needs. */
    private static final int FRAMES = 64;

    private static final int FOREIGN_CLOSE = 1 << 8;
    /** The byte of the flags word with {@link #FOREIGN_CLOSE}; the one before is the raw top. */
    private static final int FOREIGN = FLAGS + 1;
    /** The next byte: whether the block is kept. */
    private static final int KEPT = FLAGS + 2;
    /** The next byte: the affinity tag that the last owner left. */
    private static final int AFFINITY = FLAGS + 3;
    private static final int PLACE_MASK = BLOCKS - 1;

    private Slab() {
    }

    /** Has the VM initialise this class. */
    public static void initialise() {
    }

    // ---- finding a block ------------------------------------------------------------------------

    /** The block of the thread with this key, or {@link #NONE}. */
    public static long find(long key) {
        long first = place(key, 0);
        return isOf(first, key) ? first : findFurther(key);
    }

    /** Whether this is the block of the thread with this key. */
    public static boolean isOf(long block, long key) {
        return Memory.getLong(block, OWNER) == key && !(KEY_FROM_AGENT && key == 0);
    }

    /**
     * The block at a place in the probe window of {@code key}; place 0 is the preferred one, where
     * the thread's block most often is.
     */
    public static long place(long key, int further) {
        return origin + (long) (((int) key + further) & PLACE_MASK) * STRIDE;
    }

    /** The number of a block's place. */
    public static int index(long block) {
        return (int) ((block - origin) / STRIDE);
    }

    public static long findFurther(long key) {
        if (key != 0) {
            for (int i = 0; i < PROBE_LIMIT; i++) {
                long block = place(key, i);
                if (Memory.getLong(block, OWNER) == key) {
                    return block;
                }
            }
        }
        return NONE;
    }

    // ---- claiming and releasing -----------------------------------------------------------------

    /**
     * Makes a free block that of the current thread, whose key this is. {@code kept}: it stays with
     * the thread at depth 0.
     */
    public static boolean claim(long block, long key, boolean kept) {
        // The CAS pairs with the release store of the owner word: we see the zeros that the last
        // owner left.
        if (Memory.getLong(block, OWNER) != 0
                || !Memory.compareAndSetLong(block, OWNER, 0L, key)) {
            return false;
        }
        furnish(block, kept);
        return true;
    }

    private static void furnish(long block, boolean kept) {
        Memory.putByte(block, KEPT, (byte) (kept ? 1 : 0));
        Memory.putInt(block, EVENT_MASK, ALL_EVENTS);
    }

    /**
     * Makes the block of {@code dead}, a thread that has ended, that of the current thread. While
     * it is cleared its owner is {@code -dead}: no thread's key, so no reader takes it for
     * anyone's, and no second taker gets it.
     */
    public static boolean takeOver(long block, long dead, long key, boolean kept) {
        if (dead <= 0) {
            return false;
        }
        // A block whose owner is -dead would be lost: so the error comes here or not at all.
        Headroom.requireStack(FRAMES);
        if (!Memory.compareAndSetLong(block, OWNER, dead, -dead)) {
            return false;
        }
        clear(block);
        furnish(block, kept);
        VarHandle.releaseFence();
        Memory.putLong(block, OWNER, key);
        return true;
    }

    /** Gives the current thread's block back, and leaves an affinity tag of the thread in it. */
    public static void release(long block) {
        byte tag = affinityTag(Memory.getLong(block, OWNER));
        clear(block);
        Memory.putByte(block, AFFINITY, tag);
        // Last: from here on the block is another's.
        VarHandle.releaseFence();
        Memory.putLong(block, OWNER, 0);
    }

    private static void clear(long block) {
        int number = fresh(block);
        begin(block, number);
        for (int pair = 0; pair < SLOTS / 2; pair++) {
            putIds(block, pair, 0);
        }
        Memory.putInt(block, FLAGS, 0);
        Memory.putInt(block, TOP_SERIAL, 0);
        Memory.putInt(block, EVENT_MASK, 0);
        end(block, number);
    }

    /** Whether the thread with this key, most likely, gave a block back not long ago. */
    public static boolean hasAffinityTag(long key) {
        byte tag = affinityTag(key);
        for (int i = 0; i < PROBE_LIMIT; i++) {
            long block = place(key, i);
            if (Memory.getByte(block, AFFINITY) == tag && Memory.getLong(block, OWNER) == 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Seven bits of a hash and a one: threads with ids in a row have different tags, none has 0.
     */
    private static byte affinityTag(long key) {
        return (byte) (key * 0x9e37_79b9_7f4a_7c15L >>> 56 | 1);
    }

    /** Whether the block stays with its thread when no context is left. */
    public static boolean isKept(long block) {
        return Memory.getByte(block, KEPT) != 0;
    }

    public static long owner(long block) {
        long owner = Memory.getLong(block, OWNER);
        VarHandle.acquireFence();
        return owner;
    }

    // ---- the sequence ---------------------------------------------------------------------------

    // Each publication has a number of its own, made from a serial that the block gives once (rule
    // 10 of CompilerRules).

    /** The number under which the scope with this serial publishes its context. */
    public static int opened(int serial) {
        return serial << 2;
    }

    /** The number under which what was there before that scope is published again. */
    public static int closed(int serial) {
        return serial << 2 | 2;
    }

    /** The number of a publication that belongs to no scope; uses up a serial. */
    public static int fresh(long block) {
        int serial = nextSerial(block);
        putNext(block, serial);
        return opened(serial);
    }

    /** Makes the sequence odd: readers keep off. {@code number} is that of this publication. */
    public static void begin(long block, int number) {
        Memory.putInt(block, SEQUENCE, number | 1);
        // Holds the odd number before all that follows, and keeps the compiler from dropping it.
        VarHandle.storeStoreFence();
    }

    /** Makes the sequence even: what was written since {@link #begin} is published. */
    public static void end(long block, int number) {
        VarHandle.releaseFence();
        Memory.putInt(block, SEQUENCE, number);
        // Keeps the compiler from dropping the even number in favour of the next odd one, however
        // far that is.
        VarHandle.storeStoreFence();
    }

    public static int sequence(long block) {
        return Memory.getInt(block, SEQUENCE);
    }

    // ---- the fields of a block ------------------------------------------------------------------

    /** Value ids of the slots 2 * pair (low half) and 2 * pair + 1 (high half). */
    public static long ids(long block, int pair) {
        return Memory.getLong(block, IDS + pair * Long.BYTES);
    }

    public static void putIds(long block, int pair, long ids) {
        Memory.putLong(block, IDS + pair * Long.BYTES, ids);
    }

    public static int id(long block, int slot) {
        return Memory.getInt(block, IDS + slot * Integer.BYTES);
    }

    /**
     * Writes one value id. An int store, though ids are saved as longs: see rule 11.
     */
    public static void putId(long block, int slot, int id) {
        Memory.putInt(block, IDS + (long) slot * Integer.BYTES, id);
    }

    public static void putEntry(long block, long entry) {
        Memory.putInt(block, entry >>> 32, (int) entry);
    }

    /** Writes the first {@code count} of eight entries. */
    public static void putEntries(long block, int count, long e0, long e1, long e2, long e3,
            long e4, long e5, long e6, long e7) {
        Memory.putInts(block, count, e0, e1, e2, e3, e4, e5, e6, e7);
    }

    /** The id that the block has in the slot of {@code entry}. */
    public static int idAt(long block, long entry) {
        return Memory.getInt(block, entry >>> 32);
    }

    public static int top(long block) {
        return Memory.getInt(block, TOP_SERIAL);
    }

    public static void putTop(long block, int serial) {
        Memory.putInt(block, TOP_SERIAL, serial);
    }

    /** The serial of a new scope; never 0, which means "none". */
    public static int nextSerial(long block) {
        int serial = Memory.getInt(block, NEXT_SERIAL) + 1;
        return serial != 0 ? serial : 1;
    }

    public static void putNext(long block, int serial) {
        Memory.putInt(block, NEXT_SERIAL, serial);
    }

    public static int eventMask(long block) {
        return Memory.getInt(block, EVENT_MASK);
    }

    public static void putEventMask(long block, int mask) {
        Memory.putInt(block, EVENT_MASK, mask);
    }

    /** Bytes of the raw area in use. */
    public static int rawTop(long block) {
        return Memory.getByte(block, RAW_TOP) & 0xff;
    }

    /** A byte store, so that it cannot undo another thread's {@link #markForeignClose}. */
    public static void putRawTop(long block, int top) {
        Memory.putByte(block, RAW_TOP, (byte) top);
    }

    public static byte rawByte(long block, int offset) {
        return Memory.getByte(block, RAW + offset);
    }

    public static void putRawByte(long block, int offset, int value) {
        Memory.putByte(block, RAW + offset, (byte) value);
    }

    /**
     * Whether the current thread's block has to be repaired first: another thread closed a scope,
     * or an error interrupted a write.
     */
    public static boolean needsRepair(long block) {
        // Two loads of bytes: see rule 11.
        return (Memory.getByte(block, FOREIGN) | Memory.getByte(block, SEQUENCE) & 1) != 0;
    }

    /**
     * Whether a write of the current thread to its block ended between {@link #begin} and {@link
     * #end}: an interpreted call in there found no stack left.
     */
    public static boolean isInterrupted(long block) {
        return (sequence(block) & 1) != 0;
    }

    // ---- closes by other threads ----------------------------------------------------------------

    public static boolean hasForeignClose(long block) {
        return Memory.getByte(block, FOREIGN) != 0;
    }

    public static void markForeignClose(long block) {
        Memory.orInt(block, FLAGS, FOREIGN_CLOSE);
    }

    public static void clearForeignClose(long block) {
        Memory.andInt(block, FLAGS, ~FOREIGN_CLOSE);
    }
}
