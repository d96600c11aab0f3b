package io.ctxagent;

import io.ctxagent.internal.agent.Layout;
import io.ctxagent.internal.agent.Memory;
import java.lang.invoke.VarHandle;

/**
 * The context blocks and the protocol to write them ({@code docs/memory-model.md}). A block is named by its
 * address. Initialised only when the agent is there, so that the compiler folds all numbers below into the code.
 *
 * <p>Only the thread that owns a block writes it, except for the {@link #FOREIGN_CLOSE} bit. A signal handler may read the block
 * between any two instructions of that thread: what it must see together is written between {@link #begin} and
 * {@link #end}. Nothing in between may block, allocate, or initialise a class, nor throw but a {@link StackOverflowError}; the owner finds that at its next
 * call ({@link #isTorn}).
 */
final class Slab {
    /** No block. */
    static final long NONE = 0;
    static final int RAW_BIT;
    static final int OVERFLOW_ID;
    static final int RAW_LENGTH;
    static final int VALUE_LIMIT;
    static final int SLOTS = Layout.SLOTS;
    /** Number of blocks. */
    static final int PLACES;
    static final int PROBE_LIMIT;
    /** The mask of a block that no filter looked at: every event type may carry the context. */
    static final int ALL_EVENTS = -1;

    /** A thread has no block under this key, which marks free blocks. Only keys from the agent can be 0. */
    private static final boolean KEY_MAY_BE_0;
    /**
     * {@link Memory#ORIGIN}. Not final on purpose: with a constant here the compiler folds it into each field's address, and
     * materialises nine 64-bit constants in a scope instead of adding small offsets to one register.
     */
    private static long origin = Memory.ORIGIN;

    /** More stack than {@link #takeOver} needs. */
    private static final int FRAMES = 64;

    private static final int FOREIGN_CLOSE = 1 << 8;
    /** The byte of the flags word that holds {@link #FOREIGN_CLOSE}; the byte before it is the raw top. */
    private static final int FOREIGN;
    /** The two bytes after that one: whether the block is kept; what the last owner left. */
    private static final int KEPT;
    private static final int GHOST;
    private static final int STRIDE;
    private static final int MASK;
    private static final int OWNER;
    private static final int SEQ;
    private static final int FLAGS;
    private static final int IDS;
    private static final int EVENT_MASK;
    private static final int TOP;
    private static final int NEXT;
    private static final int RAW;
    private static final int RAW_TOP;

    static {
        // Nothing that can fail, see ContextSupport.
        Layout l = Prepared.parts().layout;
        KEY_MAY_BE_0 = l.keyFromAgent;
        RAW_BIT = l.rawBit;
        OVERFLOW_ID = l.overflowId;
        RAW_LENGTH = l.rawLength;
        VALUE_LIMIT = l.valueLimit;
        FOREIGN = l.flags + 1;
        KEPT = l.flags + 2;
        GHOST = l.flags + 3;
        STRIDE = l.stride;
        PLACES = l.blocks;
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

    /** Has the VM initialise this class. */
    static void initialise() {
    }

    // ---- finding a block -----------------------------------------------------------------------------------------

    /** The block of the thread with this key, or {@link #NONE}. */
    static long find(long key) {
        long first = place(key, 0);
        return isOf(first, key) ? first : findFurther(key);
    }

    /** Whether this is the block of the thread with this key. */
    static boolean isOf(long block, long key) {
        return Memory.getLong(block + OWNER) == key && !(KEY_MAY_BE_0 && key == 0);
    }

    /** The block at a place in the neighbourhood of {@code key}: the first one is the place where it most often is. */
    static long place(long key, int further) {
        return origin + (long) (((int) key + further) & MASK) * STRIDE;
    }

    /** The number of a block's place. */
    static int index(long block) {
        return (int) ((block - origin) / STRIDE);
    }

    static long findFurther(long key) {
        if (key != 0) {
            for (int i = 0; i < PROBE_LIMIT; i++) {
                long block = place(key, i);
                if (Memory.getLong(block + OWNER) == key) {
                    return block;
                }
            }
        }
        return NONE;
    }

    /** The block of the current thread, whose key this is: a new one if it has none, {@link #NONE} and counted if none is free. */
    static long findOrAcquire(long key) {
        long block = find(key);
        return block != NONE ? block : Claims.claim(key);
    }

    // ---- claiming and releasing ----------------------------------------------------------------------------------

    /** Makes a free block that of the current thread, whose key this is. {@code kept}: it stays with the thread at depth 0. */
    static boolean claim(long block, long key, boolean kept) {
        // The CAS pairs with the release store of the owner word: we see the zeros that the last owner left.
        if (Memory.getLong(block + OWNER) != 0 || !Memory.compareAndSetLong(block + OWNER, 0L, key)) {
            return false;
        }
        furnish(block, kept);
        return true;
    }

    private static void furnish(long block, boolean kept) {
        Memory.putByte(block + KEPT, (byte) (kept ? 1 : 0));
        Memory.putInt(block + EVENT_MASK, ALL_EVENTS);
    }

    /**
     * Makes the block of {@code dead}, a thread that has ended, that of the current thread. While it is cleared its owner is {@code -dead}: no
     * thread's key, so no reader takes it for anyone's, and no second taker gets it.
     */
    static boolean takeOver(long block, long dead, long key, boolean kept) {
        if (dead <= 0) {
            return false;
        }
        touchStack(FRAMES);
        if (!Memory.compareAndSetLong(block + OWNER, dead, -dead)) {
            return false;
        }
        clear(block);
        furnish(block, kept);
        VarHandle.releaseFence();
        Memory.putLong(block + OWNER, key);
        return true;
    }

    /** Throws the error here if the stack is about to end, not in the midst of the calls that follow: nobody would take a block whose owner is {@code -dead}. */
    private static int touchStack(int frames) {
        return frames == 0 ? 0 : 1 + touchStack(frames - 1);
    }

    /** Gives the current thread's block back, and leaves a ghost: that this thread was here. */
    static void release(long block) {
        byte ghost = ghost(Memory.getLong(block + OWNER));
        clear(block);
        Memory.putByte(block + GHOST, ghost);
        // Last: from here on the block is another's.
        VarHandle.releaseFence();
        Memory.putLong(block + OWNER, 0);
    }

    private static void clear(long block) {
        int number = fresh(block);
        begin(block, number);
        for (int pair = 0; pair < SLOTS / 2; pair++) {
            putIds(block, pair, 0);
        }
        Memory.putInt(block + FLAGS, 0);
        Memory.putInt(block + TOP, 0);
        Memory.putInt(block + EVENT_MASK, 0);
        end(block, number);
    }

    /** Whether the thread with this key, most likely, gave a block back not long ago. */
    static boolean hasGhost(long key) {
        byte ghost = ghost(key);
        for (int i = 0; i < PROBE_LIMIT; i++) {
            long block = place(key, i);
            if (Memory.getByte(block + GHOST) == ghost && Memory.getLong(block + OWNER) == 0) {
                return true;
            }
        }
        return false;
    }

    /** Seven bits of a hash and a one: neighbours have different ghosts, and none has 0. */
    private static byte ghost(long key) {
        return (byte) (key * 0x9e37_79b9_7f4a_7c15L >>> 56 | 1);
    }

    /** Whether the block stays with its thread when no context is left. */
    static boolean isKept(long block) {
        return Memory.getByte(block + KEPT) != 0;
    }

    static long owner(long block) {
        long owner = Memory.getLong(block + OWNER);
        VarHandle.acquireFence();
        return owner;
    }

    // ---- the sequence --------------------------------------------------------------------------------------------

    // Each publication has a number of its own, made from a serial that the block gives once. Counting up the number in the block would do
    // as well, but then each publication waits for the store of the one before to come back as a load: that wait was half of a scope.

    /** The number under which the scope with this serial publishes its context. */
    static int opened(int serial) {
        return serial << 2;
    }

    /** The number under which what was there before that scope is published again. */
    static int closed(int serial) {
        return serial << 2 | 2;
    }

    /** A number for what is no scope: uses up a serial. */
    static int fresh(long block) {
        int serial = nextSerial(block);
        putNext(block, serial);
        return opened(serial);
    }

    /** Makes the sequence odd: readers keep off. {@code number} is that of this publication. */
    static void begin(long block, int number) {
        Memory.putInt(block + SEQ, number | 1);
        // Holds the odd number before all that follows, and keeps the compiler from dropping it.
        VarHandle.storeStoreFence();
    }

    /** Makes the sequence even: what was written since {@link #begin} is published. */
    static void end(long block, int number) {
        VarHandle.releaseFence();
        Memory.putInt(block + SEQ, number);
        // Keeps the compiler from dropping the even number in favour of the next odd one, however far that is.
        VarHandle.storeStoreFence();
    }

    static int sequence(long block) {
        return Memory.getInt(block + SEQ);
    }

    // ---- the fields of a block -----------------------------------------------------------------------------------

    /** Value ids of the slots 2 * pair (low half) and 2 * pair + 1 (high half). */
    static long ids(long block, int pair) {
        return Memory.getLong(block + IDS + pair * Long.BYTES);
    }

    static void putIds(long block, int pair, long ids) {
        Memory.putLong(block + IDS + pair * Long.BYTES, ids);
    }

    static int id(long block, int slot) {
        return Memory.getInt(block + IDS + slot * Integer.BYTES);
    }

    /** Writes one value id. An int store, though ids are saved as longs: measured, it is the faster way for one and for eight. */
    static void putId(long block, int slot, int id) {
        Memory.putInt(block + IDS + (long) slot * Integer.BYTES, id);
    }

    static void putEntry(long block, long entry) {
        Memory.putInt(block + (entry >>> 32), (int) entry);
    }

    /** Writes the first {@code count} of eight entries. */
    static void putEntries(long block, int count, long e0, long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        Memory.putInts(block, count, e0, e1, e2, e3, e4, e5, e6, e7);
    }

    /** The id that the block has in the slot of {@code entry}. */
    static int idAt(long block, long entry) {
        return Memory.getInt(block + (entry >>> 32));
    }

    static int top(long block) {
        return Memory.getInt(block + TOP);
    }

    static void putTop(long block, int serial) {
        Memory.putInt(block + TOP, serial);
    }

    /** The serial of a new scope; never 0, which means "none". */
    static int nextSerial(long block) {
        int serial = Memory.getInt(block + NEXT) + 1;
        return serial != 0 ? serial : 1;
    }

    static void putNext(long block, int serial) {
        Memory.putInt(block + NEXT, serial);
    }

    static int eventMask(long block) {
        return Memory.getInt(block + EVENT_MASK);
    }

    static void putEventMask(long block, int mask) {
        Memory.putInt(block + EVENT_MASK, mask);
    }

    /** Bytes of the raw area in use. */
    static int rawTop(long block) {
        return Memory.getByte(block + RAW_TOP) & 0xff;
    }

    /** A byte store, so that it cannot undo another thread's {@link #markForeignClose}. */
    static void putRawTop(long block, int top) {
        Memory.putByte(block + RAW_TOP, (byte) top);
    }

    static byte rawByte(long block, int offset) {
        return Memory.getByte(block + RAW + offset);
    }

    static void putRawByte(long block, int offset, int value) {
        Memory.putByte(block + RAW + offset, (byte) value);
    }

    /** Eight bytes; {@code offset} need not be a multiple of eight. */
    static void putRawLong(long block, int offset, long bytes) {
        Memory.putLong(block + RAW + offset, bytes);
    }

    /** Whether the current thread's block has to be repaired first: another thread closed a scope, or an error tore a change. */
    static boolean isDisturbed(long block) {
        // Bytes: a byte of what was stored as an int a moment ago is forwarded to the load, a long is not.
        return (Memory.getByte(block + FOREIGN) | Memory.getByte(block + SEQ) & 1) != 0;
    }

    /**
     * Whether a change of the current thread's own block ended between {@link #begin} and {@link #end}: an interpreted call in there found no stack left.
     */
    static boolean isTorn(long block) {
        return (sequence(block) & 1) != 0;
    }

    // ---- closes by other threads ---------------------------------------------------------------------------------

    static boolean hasForeignClose(long block) {
        return Memory.getByte(block + FOREIGN) != 0;
    }

    static void markForeignClose(long block) {
        Memory.orInt(block + FLAGS, FOREIGN_CLOSE);
    }

    static void clearForeignClose(long block) {
        Memory.andInt(block + FLAGS, ~FOREIGN_CLOSE);
    }
}
