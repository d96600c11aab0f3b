package io.ctxagent;

import io.ctxagent.internal.Bridge;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Loads and stores in the slab, by address. Initialised only when the agent is there.
 *
 * <p>Where the agent opened {@code jdk.internal.misc} to this module, an access is one instruction. Where it did not, an
 * "address" is an offset into the buffer plus {@link #ORIGIN}, and each access is checked: three times slower, and so much
 * code that the compiler no longer inlines a whole scope. All callers stay inside the slab either way. The system property
 * {@code io.ctxagent.memory=checked} keeps to the slow way, for tests of it.
 */
final class Memory {
    /** Whether accesses are plain instructions. */
    static final boolean DIRECT = isDirect();
    /** Address of the first block; never 0. */
    static final long ORIGIN = DIRECT ? DirectMemory.address(Bridge.slab()) : 1 << 12;

    private static final ByteBuffer BUFFER = Bridge.slab();
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Memory() {
    }

    private static boolean isDirect() {
        if (isCheckedWanted()) {
            return false;
        }
        try {
            Bridge.agent().openMemory(Memory.class.getModule());
            return isAddressOf(Bridge.slab()) && works();
        } catch (LinkageError | VirtualMachineError | SecurityException notOpenedOrChanged) {
            // A field that is not there is an internal error.
            return false;
        }
    }

    private static boolean isCheckedWanted() {
        try {
            return "checked".equals(System.getProperty("io.ctxagent.memory"));
        } catch (SecurityException notForUs) {
            return false;
        }
    }

    /** Whether the field that is read is the address of the first byte, as far as that can be told without touching memory. */
    private static boolean isAddressOf(ByteBuffer slab) {
        long address = DirectMemory.address(slab);
        return address != 0 && DirectMemory.address(slab.slice(Long.BYTES, Long.BYTES)) == address + Long.BYTES;
    }

    /**
     * Tries all of {@link DirectMemory} once: what a later JDK lacks or changed must be found here, not in the application. Not on a direct buffer: an
     * application may have used up what the VM grants it of these.
     */
    private static boolean works() {
        long at = DirectMemory.allocate(Long.BYTES);
        boolean memory;
        try {
            memory = works(at);
        } finally {
            DirectMemory.free(at);
        }
        // A VM may keep all strings in 16 bits a char; then there is never an array to read.
        byte[] text = DirectMemory.latin1("proof");
        boolean strings = (text == null || Arrays.equals(text, "proof".getBytes(StandardCharsets.ISO_8859_1)))
                && DirectMemory.latin1("\u20ac") == null && "proof".hashCode() == DirectMemory.knownHash("proof");
        return memory && strings && DirectMemory.id(Thread.currentThread()) == Threads.checkedId(Thread.currentThread());
    }

    private static boolean works(long at) {
        DirectMemory.putLong(at, 0x1122_3344_5566_7788L);
        DirectMemory.putInt(at + 4, 0x99aa_bbcc);
        DirectMemory.putByte(at, (byte) 0xdd);
        DirectMemory.orInt(at, 0x22);
        DirectMemory.andInt(at, ~0x5500_0000);
        return DirectMemory.getLong(at) == 0x99aa_bbcc_0066_77ffL
                && DirectMemory.getInt(at + 4) == 0x99aa_bbcc && DirectMemory.getByte(at) == (byte) 0xff
                && !DirectMemory.compareAndSetLong(at, 1, 2) && DirectMemory.compareAndSetLong(at, 0x99aa_bbcc_0066_77ffL, 3)
                && DirectMemory.getLong(at) == 3;
    }

    static long getLong(long at) {
        return DIRECT ? DirectMemory.getLong(at) : BUFFER.getLong(index(at));
    }

    static void putLong(long at, long value) {
        if (DIRECT) {
            DirectMemory.putLong(at, value);
        } else {
            BUFFER.putLong(index(at), value);
        }
    }

    static int getInt(long at) {
        return DIRECT ? DirectMemory.getInt(at) : BUFFER.getInt(index(at));
    }

    static void putInt(long at, int value) {
        if (DIRECT) {
            DirectMemory.putInt(at, value);
        } else {
            BUFFER.putInt(index(at), value);
        }
    }

    /** Stores the first {@code count} of eight ints: the low half of each argument, its high half being where it lies behind {@code base}. */
    static void putInts(long base, int count, long i0, long i1, long i2, long i3, long i4, long i5, long i6, long i7) {
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

    static byte getByte(long at) {
        return DIRECT ? DirectMemory.getByte(at) : BUFFER.get(index(at));
    }

    static void putByte(long at, byte value) {
        if (DIRECT) {
            DirectMemory.putByte(at, value);
        } else {
            BUFFER.put(index(at), value);
        }
    }

    static boolean compareAndSetLong(long at, long expected, long value) {
        return DIRECT ? DirectMemory.compareAndSetLong(at, expected, value)
                : LONGS.compareAndSet(BUFFER, index(at), expected, value);
    }

    static void orInt(long at, int mask) {
        if (DIRECT) {
            DirectMemory.orInt(at, mask);
        } else {
            int before = (int) INTS.getAndBitwiseOr(BUFFER, index(at), mask);
        }
    }

    static void andInt(long at, int mask) {
        if (DIRECT) {
            DirectMemory.andInt(at, mask);
        } else {
            int before = (int) INTS.getAndBitwiseAnd(BUFFER, index(at), mask);
        }
    }

    /** The hash code of a string if the string knows it, else any number: nothing is computed, as that would be much code and, for a huge string, much time. */
    static int knownHash(String text) {
        return DIRECT ? DirectMemory.knownHash(text) : text.length() <= Slab.VALUE_LIMIT ? text.hashCode() : 0;
    }

    private static int index(long address) {
        return (int) (address - ORIGIN);
    }
}
