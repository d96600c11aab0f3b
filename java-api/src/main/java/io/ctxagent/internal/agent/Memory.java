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
     * Stores the first {@code count} of eight ints: the low half of each argument, its high half
     * being where it lies behind {@code base}.
     */
    public static void putInts(long base, int count, long i0, long i1, long i2, long i3, long i4,
            long i5, long i6, long i7) {
        if (DIRECT) {
            DirectMemory.putInts(base, count, i0, i1, i2, i3, i4, i5, i6, i7);
        } else {
            putIntsChecked(base, Math.min(count, 4), i0, i1, i2, i3);
            putIntsChecked(base, count - 4, i4, i5, i6, i7);
        }
    }

    /** Without an array: in the sequence nothing may be allocated. */
    private static void putIntsChecked(long base, int count, long i0, long i1, long i2, long i3) {
        if (count > 0) {
            putInt(base + (i0 >>> 32), (int) i0);
        }
        if (count > 1) {
            putInt(base + (i1 >>> 32), (int) i1);
        }
        if (count > 2) {
            putInt(base + (i2 >>> 32), (int) i2);
        }
        if (count > 3) {
            putInt(base + (i3 >>> 32), (int) i3);
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
