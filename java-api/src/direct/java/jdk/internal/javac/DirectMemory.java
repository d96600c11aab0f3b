package jdk.internal.javac;

import java.util.Objects;
import jdk.internal.misc.Unsafe;

/**
 * Loads and stores in the slab of context blocks, one instruction each. The agent holds the bytes
 * of this class ({@code agent/src/jvm/DirectMemory.class}, made by {@code make direct-memory}) and
 * defines it in {@code java.base}. There it may use {@code jdk.internal.misc}, and its package is
 * open to nobody: no reflection and no private lookup reaches what is private here. Of the
 * package's own classes, all annotations, nothing depends on who can see them.
 *
 * <p>The package is exported to the module of the Java API, which may be that of the whole class
 * path. So no method does harm, whoever calls it: each one accesses the slab and nothing else,
 * which all Java code may write anyway, or reads what is public. A wrong block is an {@link
 * IndexOutOfBoundsException}, of an offset only the lowest eight bits count. The block is checked
 * apart from the offset so that the compiler checks each block once, however many of its fields are
 * accessed. A page of ours follows the slab.
 */
public final class DirectMemory {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");
    private static final long STRING_BYTES = UNSAFE.objectFieldOffset(String.class, "value");
    private static final long STRING_CODER = UNSAFE.objectFieldOffset(String.class, "coder");
    private static final long STRING_HASH = UNSAFE.objectFieldOffset(String.class, "hash");
    private static final byte LATIN1 = 0;
    private static final long FIRST_BYTE = firstByte();
    /** A one in each byte. */
    private static final long ONES = 0x0101_0101_0101_0101L;

    private static final long NOT_ASCII = 0x8080_8080_8080_8080L;

    /**
     * Address of the first block, a multiple of {@link #BYTES}. The agent writes it into the bytes
     * of this class in place of this number, which no other constant expression may use: the
     * compiler would compute it.
     */
    private static final long SLAB = 0x5b0c_ad0f_a11b_1001L;
    /** Bytes of all blocks, rounded up to a power of two, in place of this number. */
    private static final long BYTES = 0x5b0c_b17e_a11b_1002L;

    /**
     * Offsets in the VM's thread of the bytes that it has allocated, and of first byte and top of
     * its buffer, 16 bits each, in place of this number; 0: not known.
     */
    private static final long COUNTERS = 0x5b0c_a110_a11b_1003L;

    /** Buffers are smaller, and addresses of the heap larger. */
    private static final long MAX_BUFFER = 1 << 30;

    private static final long VM_THREAD = UNSAFE.objectFieldOffset(Thread.class, "eetop");

    private static final int SHIFT = Long.numberOfTrailingZeros(BYTES);
    private static final long PAGE = SLAB >>> SHIFT;
    private static final long OFFSET_MASK = 0xff;

    private DirectMemory() {}

    /**
     * Found by looking: the constant is an int before 25 and a long from then on, and reflection
     * would initialise classes that an application's method handles need.
     */
    private static long firstByte() {
        byte[] bytes = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0};
        for (long offset = 8; offset <= 24; offset += 4) {
            if (UNSAFE.getLong(bytes, offset) == 0x0807_0605_0403_0201L) {
                return offset;
            }
        }
        throw new LinkageError("no offset of an array's bytes");
    }

    /** Address of the first block. */
    public static long origin() {
        return SLAB;
    }

    /**
     * A block of which all but the first eight bytes are on the page behind the slab: for tests.
     */
    public static long spare() {
        return (PAGE + 1 << SHIFT) - Long.BYTES;
    }

    /** The address of a byte of a block. */
    private static long at(long block, long offset) {
        if (block >>> SHIFT != PAGE) {
            throw new IndexOutOfBoundsException("not a context block");
        }
        return block + (offset & OFFSET_MASK);
    }

    /** The hash code of a string, 0 if nobody asked for it yet. */
    public static int knownHash(String text) {
        return UNSAFE.getInt(Objects.requireNonNull(text), STRING_HASH);
    }

    /** {@code Thread.threadId()}, which 17 lacks, and which is never overridden. */
    public static long id(Thread thread) {
        return UNSAFE.getLong(Objects.requireNonNull(thread), THREAD_ID);
    }

    /**
     * The bytes that the current thread has allocated, as {@code ThreadMXBean} counts them; -1: not
     * known, as of a virtual thread. The VM may end the buffer between two loads: then it has
     * counted its bytes.
     */
    public static long allocatedBytes() {
        long thread = UNSAFE.getLong(Thread.currentThread(), VM_THREAD);
        if (COUNTERS == 0 || thread == 0) {
            return -1;
        }
        long counted = counter(thread, 0);
        long used = counter(thread, 32) - counter(thread, 16);
        boolean isWhole = used >= 0 && used < MAX_BUFFER && counter(thread, 0) == counted;
        return isWhole ? counted + used : -1;
    }

    private static long counter(long thread, int shift) {
        return UNSAFE.getLong(thread + (COUNTERS >>> shift & 0xffff));
    }

    public static long getLong(long block, long offset) {
        return UNSAFE.getLong(at(block, offset));
    }

    public static void putLong(long block, long offset, long value) {
        UNSAFE.putLong(at(block, offset), value);
    }

    public static int getInt(long block, long offset) {
        return UNSAFE.getInt(at(block, offset));
    }

    public static void putInt(long block, long offset, int value) {
        UNSAFE.putInt(at(block, offset), value);
    }

    public static byte getByte(long block, long offset) {
        return UNSAFE.getByte(at(block, offset));
    }

    public static void putByte(long block, long offset, byte value) {
        UNSAFE.putByte(at(block, offset), value);
    }

    public static boolean compareAndSetLong(long block, long offset, long expected, long value) {
        return UNSAFE.compareAndSetLong(null, at(block, offset), expected, value);
    }

    public static void orInt(long block, long offset, int mask) {
        UNSAFE.getAndBitwiseOrInt(null, at(block, offset), mask);
    }

    public static void andInt(long block, long offset, int mask) {
        UNSAFE.getAndBitwiseAndInt(null, at(block, offset), mask);
    }

    /**
     * Copies the chars of a string of eight or more, one byte each. {@code false} if one is not
     * ASCII; then what was written is worth nothing. The last eight bytes may overlap the ones
     * before. Written so that the compiler does not unroll it: the code would double that of a
     * whole scope, which then is no longer inlined.
     */
    public static boolean putAscii(long block, long offset, String text) {
        byte[] bytes = (byte[]) UNSAFE.getReference(Objects.requireNonNull(text), STRING_BYTES);
        int last = bytes.length - Long.BYTES;
        if (UNSAFE.getByte(text, STRING_CODER) != LATIN1 || last < 0) {
            return false;
        }
        long all = 0;
        int i = 0;
        while (true) {
            long eight = UNSAFE.getLong(bytes, FIRST_BYTE + i);
            all |= eight;
            UNSAFE.putLong(at(block, offset + i), eight);
            if (i == last) {
                return (all & NOT_ASCII) == 0;
            }
            i = Math.min(i + Long.BYTES, last);
        }
    }

    /**
     * Writes the number that a string of a multiple of eight lower-case hexadecimal digits says,
     * two digits in a byte. {@code false} if it is no such string; then what was written is worth
     * nothing.
     */
    public static boolean putHex(long block, long offset, String text) {
        byte[] bytes = (byte[]) UNSAFE.getReference(Objects.requireNonNull(text), STRING_BYTES);
        // Also where nothing is written.
        at(block, offset);
        if (UNSAFE.getByte(text, STRING_CODER) != LATIN1 || bytes.length % Long.BYTES != 0) {
            return false;
        }
        long wrong = 0;
        for (int i = 0; i < bytes.length; i += Long.BYTES) {
            long eight = UNSAFE.getLong(bytes, FIRST_BYTE + i);
            // Of each byte: whether it is a letter, its value, and what digit has that value.
            long letters = eight >>> 6 & ONES;
            long values = (eight & 0xf * ONES) + 9 * letters;
            long digits = values + 0x30 * ONES + 0x27 * letters;
            long above9 = values + 6 * ONES >>> 4 & ONES;
            wrong |= eight ^ digits | values & 0xf0 * ONES | above9 ^ letters;
            long pairs = (values << 4 | values >>> 8) & 0x00ff_00ff_00ff_00ffL;
            pairs = (pairs | pairs >>> 8) & 0x0000_ffff_0000_ffffL;
            UNSAFE.putInt(at(block, offset + i / 2), (int) (pairs | pairs >>> 16));
        }
        return wrong == 0;
    }
}
