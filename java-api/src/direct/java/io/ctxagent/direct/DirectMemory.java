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
    private static final long LOW_HALF = 0xffff_ffffL;

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

    // The VM's own methods are called below, not those above: in an application whose contexts mostly have one attribute, the later calls look
    // rare, and then the compiler inlines nothing but what the VM itself marks.

    /**
     * Stores the first {@code count} of eight words; each argument has the low half of the word in its low half and, in its high half, where the
     * word lies behind {@code base}. The high half of each word is that of {@code stamp}, whose low half is 0.
     */
    public static void putWords(long base, int count, long stamp, long e0, long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        if (count == 0) {
            return;
        }
        UNSAFE.putLong(base + (e0 >>> 32), e0 & LOW_HALF | stamp);
        if (count == 1) {
            return;
        }
        UNSAFE.putLong(base + (e1 >>> 32), e1 & LOW_HALF | stamp);
        if (count == 2) {
            return;
        }
        UNSAFE.putLong(base + (e2 >>> 32), e2 & LOW_HALF | stamp);
        if (count == 3) {
            return;
        }
        UNSAFE.putLong(base + (e3 >>> 32), e3 & LOW_HALF | stamp);
        if (count == 4) {
            return;
        }
        UNSAFE.putLong(base + (e4 >>> 32), e4 & LOW_HALF | stamp);
        if (count == 5) {
            return;
        }
        UNSAFE.putLong(base + (e5 >>> 32), e5 & LOW_HALF | stamp);
        if (count == 6) {
            return;
        }
        UNSAFE.putLong(base + (e6 >>> 32), e6 & LOW_HALF | stamp);
        if (count == 7) {
            return;
        }
        UNSAFE.putLong(base + (e7 >>> 32), e7 & LOW_HALF | stamp);
    }

    /** Whether the high half of each of the first {@code count} words is {@code stamp}; byte k of {@code places} says where word k lies. */
    public static boolean haveStamp(long base, int count, int stamp, long places) {
        int other = UNSAFE.getInt(base + (places & 0xff) + 4) ^ stamp;
        if (count > 1) {
            other |= UNSAFE.getInt(base + (places >>> 8 & 0xff) + 4) ^ stamp;
        }
        if (count > 2) {
            other |= UNSAFE.getInt(base + (places >>> 16 & 0xff) + 4) ^ stamp;
        }
        if (count > 3) {
            other |= UNSAFE.getInt(base + (places >>> 24 & 0xff) + 4) ^ stamp;
        }
        if (count > 4) {
            other |= UNSAFE.getInt(base + (places >>> 32 & 0xff) + 4) ^ stamp;
        }
        if (count > 5) {
            other |= UNSAFE.getInt(base + (places >>> 40 & 0xff) + 4) ^ stamp;
        }
        if (count > 6) {
            other |= UNSAFE.getInt(base + (places >>> 48 & 0xff) + 4) ^ stamp;
        }
        if (count > 7) {
            other |= UNSAFE.getInt(base + (places >>> 56) + 4) ^ stamp;
        }
        return other == 0;
    }

    /** Stores the first {@code count} of eight words; byte k of {@code places} says where word k lies. */
    public static void putBack(long base, int count, long places, long w0, long w1, long w2, long w3, long w4, long w5, long w6, long w7) {
        if (count == 0) {
            return;
        }
        UNSAFE.putLong(base + (places & 0xff), w0);
        if (count == 1) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 8 & 0xff), w1);
        if (count == 2) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 16 & 0xff), w2);
        if (count == 3) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 24 & 0xff), w3);
        if (count == 4) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 32 & 0xff), w4);
        if (count == 5) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 40 & 0xff), w5);
        if (count == 6) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 48 & 0xff), w6);
        if (count == 7) {
            return;
        }
        UNSAFE.putLong(base + (places >>> 56), w7);
    }
}
