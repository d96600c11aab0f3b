package io.ctxagent;

import java.nio.Buffer;
import jdk.internal.misc.Unsafe;

/**
 * Loads and stores by address, one instruction each. In a source set of its own because it needs a package that only the agent can open at run
 * time: whoever touches this class must know that it did, see {@link Memory}.
 */
final class DirectMemory {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long BUFFER_ADDRESS = UNSAFE.objectFieldOffset(Buffer.class, "address");
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");

    private static final long STRING_BYTES = UNSAFE.objectFieldOffset(String.class, "value");
    private static final long STRING_CODER = UNSAFE.objectFieldOffset(String.class, "coder");
    private static final byte LATIN1 = 0;

    private DirectMemory() {
    }

    /** The bytes inside a string whose chars are all below 256; {@code null} for others. Not to be written. */
    static byte[] latin1(String text) {
        return UNSAFE.getByte(text, STRING_CODER) == LATIN1 ? (byte[]) UNSAFE.getReference(text, STRING_BYTES) : null;
    }

    static long address(Buffer buffer) {
        return UNSAFE.getLong(buffer, BUFFER_ADDRESS);
    }

    /** {@code Thread.threadId()}, which 17 lacks, and which is never overridden. */
    static long id(Thread thread) {
        return UNSAFE.getLong(thread, THREAD_ID);
    }

    static long getLong(long at) {
        return UNSAFE.getLong(at);
    }

    static void putLong(long at, long value) {
        UNSAFE.putLong(at, value);
    }

    static int getInt(long at) {
        return UNSAFE.getInt(at);
    }

    static void putInt(long at, int value) {
        UNSAFE.putInt(at, value);
    }

    static byte getByte(long at) {
        return UNSAFE.getByte(at);
    }

    static void putByte(long at, byte value) {
        UNSAFE.putByte(at, value);
    }

    static boolean compareAndSetLong(long at, long expected, long value) {
        return UNSAFE.compareAndSetLong(null, at, expected, value);
    }

    static void orInt(long at, int mask) {
        UNSAFE.getAndBitwiseOrInt(null, at, mask);
    }

    static void andInt(long at, int mask) {
        UNSAFE.getAndBitwiseAndInt(null, at, mask);
    }
}
