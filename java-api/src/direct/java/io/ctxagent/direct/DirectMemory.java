package io.ctxagent.direct;

import java.nio.Buffer;
import jdk.internal.misc.Unsafe;

/**
 * Loads and stores by address, one instruction each. The agent holds the bytes of this class ({@code agent/src/jvm/DirectMemory.class}, made by
 * {@code make direct-memory}) and defines it in the boot loader, because that is the only way to have {@code jdk.internal.misc} exported to this class
 * and not to the whole class path. It is in no jar. Whoever touches it must know that it is there: see {@code MemoryAccess}.
 */
public final class DirectMemory {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long BUFFER_ADDRESS = UNSAFE.objectFieldOffset(Buffer.class, "address");
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");

    private static final long STRING_BYTES = UNSAFE.objectFieldOffset(String.class, "value");
    private static final long STRING_CODER = UNSAFE.objectFieldOffset(String.class, "coder");
    private static final long STRING_HASH = UNSAFE.objectFieldOffset(String.class, "hash");
    private static final byte LATIN1 = 0;

    private DirectMemory() {
    }

    /** The bytes inside a string whose chars are all below 256; {@code null} for others. Not to be written. */
    public static byte[] latin1(String text) {
        return UNSAFE.getByte(text, STRING_CODER) == LATIN1 ? (byte[]) UNSAFE.getReference(text, STRING_BYTES) : null;
    }

    /** The hash code of a string, 0 if nobody asked for it yet. */
    public static int knownHash(String text) {
        return UNSAFE.getInt(text, STRING_HASH);
    }

    public static long address(Buffer buffer) {
        return UNSAFE.getLong(buffer, BUFFER_ADDRESS);
    }

    /** {@code Thread.threadId()}, which 17 lacks, and which is never overridden. */
    public static long id(Thread thread) {
        return UNSAFE.getLong(thread, THREAD_ID);
    }

    /** Memory outside of the heap and of all that the VM counts as direct. */
    public static long allocate(long bytes) {
        return UNSAFE.allocateMemory(bytes);
    }

    public static void free(long at) {
        UNSAFE.freeMemory(at);
    }

    public static long getLong(long at) {
        return UNSAFE.getLong(at);
    }

    public static void putLong(long at, long value) {
        UNSAFE.putLong(at, value);
    }

    public static int getInt(long at) {
        return UNSAFE.getInt(at);
    }

    public static void putInt(long at, int value) {
        UNSAFE.putInt(at, value);
    }

    public static byte getByte(long at) {
        return UNSAFE.getByte(at);
    }

    public static void putByte(long at, byte value) {
        UNSAFE.putByte(at, value);
    }

    public static boolean compareAndSetLong(long at, long expected, long value) {
        return UNSAFE.compareAndSetLong(null, at, expected, value);
    }

    public static void orInt(long at, int mask) {
        UNSAFE.getAndBitwiseOrInt(null, at, mask);
    }

    public static void andInt(long at, int mask) {
        UNSAFE.getAndBitwiseAndInt(null, at, mask);
    }

    /**
     * Stores the first {@code count} of eight ints; each argument has the int in its low half and, in its high half, where it lies behind
     * {@code base}. The VM's own methods are called here, not those above: in an application whose contexts mostly have one attribute, the
     * later calls look rare, and then the compiler inlines nothing but what the VM itself marks.
     */
    public static void putInts(long base, int count, long i0, long i1, long i2, long i3, long i4, long i5, long i6, long i7) {
        if (count == 0) {
            return;
        }
        UNSAFE.putInt(base + (i0 >>> 32), (int) i0);
        if (count == 1) {
            return;
        }
        UNSAFE.putInt(base + (i1 >>> 32), (int) i1);
        if (count == 2) {
            return;
        }
        UNSAFE.putInt(base + (i2 >>> 32), (int) i2);
        if (count == 3) {
            return;
        }
        UNSAFE.putInt(base + (i3 >>> 32), (int) i3);
        if (count == 4) {
            return;
        }
        UNSAFE.putInt(base + (i4 >>> 32), (int) i4);
        if (count == 5) {
            return;
        }
        UNSAFE.putInt(base + (i5 >>> 32), (int) i5);
        if (count == 6) {
            return;
        }
        UNSAFE.putInt(base + (i6 >>> 32), (int) i6);
        if (count == 7) {
            return;
        }
        UNSAFE.putInt(base + (i7 >>> 32), (int) i7);
    }
}
