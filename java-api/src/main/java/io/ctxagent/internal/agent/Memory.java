package io.ctxagent.internal.agent;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import jdk.internal.javac.DirectMemory;

/**
 * Loads and stores in the slab, by block and offset. Initialised only when the agent is there.
 *
 * <p>Where the agent defined {@link DirectMemory}, an access is one instruction. Where it did not,
 * a block is an offset into the buffer plus {@link #ORIGIN}, and each access is checked: three
 * times slower, and so much code that the compiler no longer inlines a scope (rule 12 of {@link
 * CompilerRules}). No access leaves the slab either way. The system property {@code
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

    private Memory() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}

    public static long getLong(long block, long offset) {
        return DIRECT ? DirectMemory.getLong(block, offset) : BUFFER.getLong(index(block, offset));
    }

    public static void putLong(long block, long offset, long value) {
        if (DIRECT) {
            DirectMemory.putLong(block, offset, value);
        } else {
            BUFFER.putLong(index(block, offset), value);
        }
    }

    public static int getInt(long block, long offset) {
        return DIRECT ? DirectMemory.getInt(block, offset) : BUFFER.getInt(index(block, offset));
    }

    public static void putInt(long block, long offset, int value) {
        if (DIRECT) {
            DirectMemory.putInt(block, offset, value);
        } else {
            BUFFER.putInt(index(block, offset), value);
        }
    }

    public static byte getByte(long block, long offset) {
        return DIRECT ? DirectMemory.getByte(block, offset) : BUFFER.get(index(block, offset));
    }

    public static void putByte(long block, long offset, byte value) {
        if (DIRECT) {
            DirectMemory.putByte(block, offset, value);
        } else {
            BUFFER.put(index(block, offset), value);
        }
    }

    public static boolean compareAndSetLong(long block, long offset, long expected, long value) {
        return DIRECT
                ? DirectMemory.compareAndSetLong(block, offset, expected, value)
                : LONGS.compareAndSet(BUFFER, index(block, offset), expected, value);
    }

    public static void orInt(long block, long offset, int mask) {
        if (DIRECT) {
            DirectMemory.orInt(block, offset, mask);
        } else {
            int before = (int) INTS.getAndBitwiseOr(BUFFER, index(block, offset), mask);
        }
    }

    public static void andInt(long block, long offset, int mask) {
        if (DIRECT) {
            DirectMemory.andInt(block, offset, mask);
        } else {
            int before = (int) INTS.getAndBitwiseAnd(BUFFER, index(block, offset), mask);
        }
    }

    /**
     * With direct access: copies the chars of a string of eight or more, one byte each; {@code
     * false} if one is not ASCII.
     */
    public static boolean putAscii(long block, long offset, String text) {
        return DirectMemory.putAscii(block, offset, text);
    }

    /**
     * With direct access: writes a string of a multiple of eight lower-case hexadecimal digits, two
     * in a byte; {@code false} if it is none.
     */
    public static boolean putHex(long block, long offset, String text) {
        return DirectMemory.putHex(block, offset, text);
    }

    /**
     * The hash code of a string if the string knows it, else any number: nothing is computed, as
     * that would be much code and, for a huge string, much time.
     */
    public static int knownHash(String text) {
        return DIRECT
                ? DirectMemory.knownHash(text)
                : text.length() <= BlockLayout.VALUE_LIMIT ? text.hashCode() : 0;
    }

    /**
     * The bytes that the current thread has allocated, without a call into the VM; -1: not known,
     * as of a virtual thread.
     */
    public static long allocatedBytes() {
        return DIRECT ? DirectMemory.allocatedBytes() : -1;
    }

    private static int index(long block, long offset) {
        return (int) (block + (offset & 0xff) - ORIGIN);
    }
}
