package io.ctxagent.internal.block;

import static io.ctxagent.internal.agent.BlockLayout.BLOCKS;
import static io.ctxagent.internal.agent.BlockLayout.EVENT_MASK;
import static io.ctxagent.internal.agent.BlockLayout.FLAGS;
import static io.ctxagent.internal.agent.BlockLayout.FRAME;
import static io.ctxagent.internal.agent.BlockLayout.IDS;
import static io.ctxagent.internal.agent.BlockLayout.KEY_FROM_AGENT;
import static io.ctxagent.internal.agent.BlockLayout.NEXT_SERIAL;
import static io.ctxagent.internal.agent.BlockLayout.OWNER;
import static io.ctxagent.internal.agent.BlockLayout.RAW;
import static io.ctxagent.internal.agent.BlockLayout.RAW_USED;
import static io.ctxagent.internal.agent.BlockLayout.SAMPLES;
import static io.ctxagent.internal.agent.BlockLayout.SEQUENCE;
import static io.ctxagent.internal.agent.BlockLayout.SLOTS;
import static io.ctxagent.internal.agent.BlockLayout.STRIDE;

import io.ctxagent.internal.agent.Headroom;
import io.ctxagent.internal.agent.Memory;
import java.lang.invoke.VarHandle;

/**
 * The context blocks and the protocol to write them ({@code docs/contributing/memory-model.md}). A
 * block is named by its address. Initialised only when the agent is there, see rule 1 of {@link
 * io.ctxagent.internal.agent.CompilerRules}.
 *
 * <p>Only the thread that owns a block writes it, except for the {@link #FOREIGN_CLOSE} bit. A
 * signal handler may read the block between any two instructions of that thread: several words that
 * it must see together are written between {@link #begin} and {@link #end}. Nothing in between may
 * block, allocate, or initialise a class, nor throw but a {@link StackOverflowError}; the next
 * publication ends what that leaves.
 *
 * <p>An attribute is one word: its value id, and above that the stamp, which is the serial of the
 * scope that set it. A stamp of 0 is no scope's: the value was put, or there is none. Serials are
 * even; the lowest bit of a stamp says that a scope below has ended, see {@link CoveredScopes}.
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

    /** In a word: a scope below has ended. */
    static final long COVERS_ENDED = 1L << 32;

    private static final int FOREIGN_CLOSE = 1 << 8;
    /** The byte of the flags word that {@link Frames} has. */
    private static final int RECORDED = FLAGS;
    /** The byte of the flags word with {@link #FOREIGN_CLOSE}. */
    private static final int FOREIGN = FLAGS + 1;
    /** The next byte: how far the threads are that prefer this place, see {@link #further}. */
    private static final int REACH = FLAGS + 2;
    /** Place of that byte in the flags word, of which other threads set bits. */
    private static final int REACH_SHIFT = 16;
    /** The next byte: the affinity tag that the last owner left, or whether the block is kept. */
    private static final int AFFINITY = FLAGS + 3;
    /** Tags are odd. */
    private static final byte KEPT = 2;
    /**
     * Of the flags word: the bytes {@link #FOREIGN} and {@link #AFFINITY}, and what they mostly
     * are.
     */
    private static final int STATE = 0xff00_ff00;

    private static final int USUAL_STATE = KEPT << 24;
    private static final int PLACE_MASK = BLOCKS - 1;
    private static final long MULTIPLIER = 0x5851_f42d_4c95_7f2dL;
    private static final long INCREMENT = 0x1405_7b7e_f767_814fL;

    private Slab() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}

    // ---- finding a block ------------------------------------------------------------------------

    /** The block of the thread with this key, or {@link #NONE}. */
    public static long find(long key) {
        long first = preferred(key);
        return isOf(first, key) ? first : findFurther(key);
    }

    /** Whether this is the block of the thread with this key. */
    public static boolean isOf(long block, long key) {
        return Memory.getLong(block, OWNER) == key && !(KEY_FROM_AGENT && key == 0);
    }

    /**
     * Whether this is the block of the thread with this key, and no close by another thread is left
     * to be done. In one branch, see rule 5 of {@link io.ctxagent.internal.agent.CompilerRules}.
     */
    public static boolean isReady(long block, long key) {
        return (Memory.getLong(block, OWNER) ^ key | Memory.getByte(block, FOREIGN)) == 0
                && !(KEY_FROM_AGENT && key == 0);
    }

    /** The block at the preferred place of {@code key}, where the thread's block most often is. */
    public static long preferred(long key) {
        return origin + (long) ((int) key & PLACE_MASK) * STRIDE;
    }

    /**
     * The next state of a generator that begins with a thread's key. Each names a further place of
     * the thread: spread over all blocks, so that blocks of others that lie side by side do not
     * fill them ({@code places.rs} in the agent).
     */
    static long further(long state) {
        return state * MULTIPLIER + INCREMENT;
    }

    /** The block at the place that this state of the generator names. */
    static long at(long state) {
        return preferred(state >>> Integer.SIZE);
    }

    /**
     * Notes in the block at a preferred place that a thread is at its further place {@code number},
     * from 1 on. Before the thread takes that block: who is not noted is not found.
     */
    static void extendReach(long preferred, int number) {
        int reach = 1 << 31 - Integer.numberOfLeadingZeros(number);
        if ((Memory.getByte(preferred, REACH) & reach) == 0) {
            Memory.orInt(preferred, FLAGS, reach << REACH_SHIFT);
        }
    }

    /** The number of a block's place. */
    public static int index(long block) {
        return (int) ((block - origin) / STRIDE);
    }

    private static long findFurther(long key) {
        long state = key;
        int number = 1;
        int reach = key == 0 ? 0 : Byte.toUnsignedInt(Memory.getByte(preferred(key), REACH));
        for (; reach != 0; reach >>>= 1) {
            // The places of a class, of which there are as many as are in front of them, and one.
            for (int end = 2 * number; number < end; number++) {
                state = further(state);
                if ((reach & 1) != 0 && Memory.getLong(at(state), OWNER) == key) {
                    return at(state);
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
        if (Memory.getLong(block, OWNER) != 0 || !Memory.compareAndSetLong(block, OWNER, 0L, key)) {
            return false;
        }
        furnish(block, kept);
        return true;
    }

    private static void furnish(long block, boolean kept) {
        Memory.putByte(block, AFFINITY, kept ? KEPT : 0);
        Memory.putInt(block, EVENT_MASK, ALL_EVENTS);
        putFrame(block, 0);
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
        for (int slot = 0; slot < SLOTS; slot++) {
            putId(block, slot, 0);
        }
        // All but the reach, which others may need.
        putRecorded(block, 0);
        Memory.putByte(block, FOREIGN, (byte) 0);
        Memory.putByte(block, AFFINITY, (byte) 0);
        putRawUsed(block, 0);
        Memory.putInt(block, EVENT_MASK, 0);
        end(block, number);
    }

    /** Whether the thread with this key, most likely, gave its preferred block back. */
    public static boolean hasAffinityTag(long key) {
        long block = preferred(key);
        return Memory.getByte(block, AFFINITY) == affinityTag(key)
                && Memory.getLong(block, OWNER) == 0;
    }

    /**
     * Seven bits of a hash and a one: threads with ids in a row have different tags, none has 0.
     */
    private static byte affinityTag(long key) {
        return (byte) (key * 0x9e37_79b9_7f4a_7c15L >>> 56 | 1);
    }

    /** Whether the block stays with its thread when no context is left. */
    public static boolean isKept(long block) {
        return Memory.getByte(block, AFFINITY) == KEPT;
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
        return serial << 1;
    }

    /** The number under which what was there before that scope is published again. */
    public static int closed(int serial) {
        return serial << 1 | 2;
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

    /**
     * Publishes one word, which needs no odd number: a reader that saw it with a number from before
     * would see no other change under that number.
     */
    public static void publishWord(long block, int number, long place, long word) {
        Memory.putInt(block, SEQUENCE, number);
        // Holds the number before the word.
        VarHandle.storeStoreFence();
        Memory.putLong(block, place, word);
        // Holds the word before the next number, and keeps the compiler from dropping it.
        VarHandle.storeStoreFence();
    }

    public static int sequence(long block) {
        return Memory.getInt(block, SEQUENCE);
    }

    // ---- the fields of a block ------------------------------------------------------------------

    public static int id(long block, int slot) {
        return Memory.getInt(block, IDS + slot * Long.BYTES);
    }

    /** Writes one value id, as no scope's. */
    public static void putId(long block, int slot, int id) {
        Memory.putLong(block, IDS + slot * Long.BYTES, Integer.toUnsignedLong(id));
    }

    /** Value ids of the slots 2 * pair (low half) and 2 * pair + 1 (high half). */
    public static long ids(long block, int pair) {
        return Integer.toUnsignedLong(id(block, 2 * pair)) | (long) id(block, 2 * pair + 1) << 32;
    }

    /** Samples taken so far with the block, modulo 2^32. */
    public static int samples(long block) {
        return Memory.getInt(block, SAMPLES);
    }

    /** The word at a place in the block. */
    public static long word(long block, long place) {
        return Memory.getLong(block, place);
    }

    public static void putWord(long block, long place, long word) {
        Memory.putLong(block, place, word);
    }

    /** The word in a slot. */
    public static long wordIn(long block, int slot) {
        return Memory.getLong(block, IDS + slot * Long.BYTES);
    }

    public static void putWordIn(long block, int slot, long word) {
        Memory.putLong(block, IDS + slot * Long.BYTES, word);
    }

    /** The word that sets a value for the scope with this serial; 0: for no scope. */
    public static long word(int id, int serial) {
        return Integer.toUnsignedLong(id) | (long) serial << 32;
    }

    /** The stamp of a word. */
    public static int stamp(long word) {
        return (int) (word >>> 32);
    }

    /** Whether neither a value nor an open scope is in the block. */
    public static boolean isEmpty(long block) {
        long any = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            any |= wordIn(block, slot);
        }
        return any == 0;
    }

    /** Whether a scope is open. */
    public static boolean hasScope(long block) {
        long any = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            any |= wordIn(block, slot);
        }
        return stamp(any) != 0;
    }

    /** The serial of a new scope: even, and never 0, which means "none". */
    public static int nextSerial(long block) {
        int serial = Memory.getInt(block, NEXT_SERIAL) + 2;
        return serial != 0 ? serial : 2;
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

    /** See {@link Frames}. */
    static int frame(long block) {
        return Memory.getInt(block, FRAME);
    }

    static void putFrame(long block, int frame) {
        Memory.putInt(block, FRAME, frame);
    }

    /** See {@link Frames#recorded}. */
    static int recorded(long block) {
        return Byte.toUnsignedInt(Memory.getByte(block, RECORDED));
    }

    static void putRecorded(long block, int slots) {
        Memory.putByte(block, RECORDED, (byte) slots);
    }

    /** The bytes of the raw area that values have, a bit each. */
    public static long rawUsed(long block) {
        return Memory.getLong(block, RAW_USED);
    }

    public static void putRawUsed(long block, long used) {
        Memory.putLong(block, RAW_USED, used);
    }

    public static byte rawByte(long block, int offset) {
        return Memory.getByte(block, RAW + offset);
    }

    public static void putRawByte(long block, int offset, int value) {
        Memory.putByte(block, RAW + offset, (byte) value);
    }

    /** Whether the block is kept and nothing in it waits for its owner. */
    public static boolean isUsual(long block) {
        return (Memory.getInt(block, FLAGS) & STATE) == USUAL_STATE;
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
