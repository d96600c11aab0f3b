package io.ctxagent.internal.agent;

import io.ctxagent.direct.DirectMemory;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * Loads and stores in the slab, by address. Initialised only when the agent is there.
 *
 * <p>Where the agent defined {@link DirectMemory}, an access is one instruction. Where it did not,
 * an "address" is an offset into the buffer plus {@link #ORIGIN}, and each access is checked: three
 * times slower, and so much code that the compiler no longer inlines a scope (rule 12 of {@link
 * CompilerRules}). All callers stay inside the slab either way. The system property {@code
 * io.ctxagent.memory=checked} chooses the checked access, for tests of it.
 */
public final class Memory {
    /** Whether accesses are plain instructions. */
    public static final boolean DIRECT;
    /** Address of the first block; never 0. */
    public static final long ORIGIN;

    private static final long LOW_HALF = 0xffff_ffffL;

    private static final ByteBuffer BUFFER;
    private static final VarHandle INTS;
    private static final VarHandle LONGS;

    static {
        // Nothing that can fail, see ContextSupport.
        PreparedMemory p = PreparedMemory.instance();
        DIRECT = p.access.isDirect;
        ORIGIN = p.access.origin;
        BUFFER = p.buffer;
        INTS = p.ints;
        LONGS = p.longs;
    }

    private Memory() {
    }

    /** Has the VM initialise this class. */
    public static void initialise() {
    }

    public static long getLong(long at) {
        return DIRECT ? DirectMemory.getLong(at) : BUFFER.getLong(index(at));
    }

    public static void putLong(long at, long value) {
        if (DIRECT) {
            DirectMemory.putLong(at, value);
        } else {
            BUFFER.putLong(index(at), value);
        }
    }

    public static int getInt(long at) {
        return DIRECT ? DirectMemory.getInt(at) : BUFFER.getInt(index(at));
    }

    public static void putInt(long at, int value) {
        if (DIRECT) {
            DirectMemory.putInt(at, value);
        } else {
            BUFFER.putInt(index(at), value);
        }
    }

    /**
     * Stores the first {@code count} of eight words: in the low half of each argument the low half
     * of the word, in its high half where the word lies behind {@code base}; the high half of all
     * words is that of {@code stamp}.
     */
    public static void putWords(long base, int count, long stamp, long e0, long e1, long e2,
            long e3, long e4, long e5, long e6, long e7) {
        if (DIRECT) {
            DirectMemory.putWords(base, count, stamp, e0, e1, e2, e3, e4, e5, e6, e7);
        } else {
            for (int i = 0; i < count; i++) {
                long e = oneOf(i, e0, e1, e2, e3, e4, e5, e6, e7);
                putLong(base + (e >>> 32), e & LOW_HALF | stamp);
            }
        }
    }

    /**
     * Whether the high half of each of the first {@code count} words is {@code stamp}; byte k of
     * {@code places} says where word k lies behind {@code base}.
     */
    public static boolean haveStamp(long base, int count, int stamp, long places) {
        if (DIRECT) {
            return DirectMemory.haveStamp(base, count, stamp, places);
        }
        boolean all = true;
        for (int i = 0; i < count; i++) {
            all &= getInt(base + (places >>> i * Byte.SIZE & 0xff) + Integer.BYTES) == stamp;
        }
        return all;
    }

    /**
     * Stores the first {@code count} of eight words; byte k of {@code places} says where word k
     * lies behind {@code base}.
     */
    public static void putBack(long base, int count, long places, long w0, long w1, long w2,
            long w3, long w4, long w5, long w6, long w7) {
        if (DIRECT) {
            DirectMemory.putBack(base, count, places, w0, w1, w2, w3, w4, w5, w6, w7);
        } else {
            for (int i = 0; i < count; i++) {
                putLong(base + (places >>> i * Byte.SIZE & 0xff),
                        oneOf(i, w0, w1, w2, w3, w4, w5, w6, w7));
            }
        }
    }

    /** Without an array: in the sequence nothing may be allocated. */
    private static long oneOf(int i, long a0, long a1, long a2, long a3, long a4, long a5, long a6,
            long a7) {
        switch (i) {
            case 0:
                return a0;
            case 1:
                return a1;
            case 2:
                return a2;
            case 3:
                return a3;
            case 4:
                return a4;
            case 5:
                return a5;
            case 6:
                return a6;
            default:
                return a7;
        }
    }

    public static byte getByte(long at) {
        return DIRECT ? DirectMemory.getByte(at) : BUFFER.get(index(at));
    }

    public static void putByte(long at, byte value) {
        if (DIRECT) {
            DirectMemory.putByte(at, value);
        } else {
            BUFFER.put(index(at), value);
        }
    }

    public static boolean compareAndSetLong(long at, long expected, long value) {
        return DIRECT ? DirectMemory.compareAndSetLong(at, expected, value)
                : LONGS.compareAndSet(BUFFER, index(at), expected, value);
    }

    public static void orInt(long at, int mask) {
        if (DIRECT) {
            DirectMemory.orInt(at, mask);
        } else {
            int before = (int) INTS.getAndBitwiseOr(BUFFER, index(at), mask);
        }
    }

    public static void andInt(long at, int mask) {
        if (DIRECT) {
            DirectMemory.andInt(at, mask);
        } else {
            int before = (int) INTS.getAndBitwiseAnd(BUFFER, index(at), mask);
        }
    }

    /**
     * The hash code of a string if the string knows it, else any number: nothing is computed, as
     * that would be much code and, for a huge string, much time.
     */
    public static int knownHash(String text) {
        return DIRECT ? DirectMemory.knownHash(text) : text.length() <= BlockLayout.VALUE_LIMIT
                ? text.hashCode() : 0;
    }

    private static int index(long address) {
        return (int) (address - ORIGIN);
    }
}
