package io.ctxagent.internal.agent;

import io.ctxagent.direct.DirectMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** How {@link Memory} accesses the slab, directly or checked: found out once. */
final class MemoryAccess {
    final boolean isDirect;
    /** What {@link Memory#ORIGIN} is. */
    final long origin;

    MemoryAccess(ByteBuffer slab) {
        isDirect = isDirect(slab);
        origin = isDirect ? DirectMemory.address(slab) : 1 << 12;
    }

    private static boolean isDirect(ByteBuffer slab) {
        try {
            return !"checked".equals(System.getProperty("io.ctxagent.memory"))
                    && Bridge.agent().openMemory(MemoryAccess.class.getModule())
                    && isAddressOf(slab) && works();
        } catch (LinkageError | InternalError | RuntimeException notOpenedOrChanged) {
            // A missing field is an InternalError. A shortage of memory or stack is passed on: it
            // says nothing about the access.
            return false;
        }
    }

    /** Whether {@link DirectMemory} finds the address of a buffer, as far as can be checked. */
    private static boolean isAddressOf(ByteBuffer slab) {
        long address = DirectMemory.address(slab);
        ByteBuffer slice = slab.slice(Long.BYTES, Long.BYTES);
        return address != 0 && DirectMemory.address(slice) == address + Long.BYTES;
    }

    /**
     * Tries all of {@link DirectMemory} once: what a later JDK lacks or changed must be found here,
     * not in the application. Not on a direct buffer: an application may have used up what the VM
     * grants it of these.
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
        boolean strings = (text == null
                || Arrays.equals(text, new byte[] {'p', 'r', 'o', 'o', 'f'}))
                && DirectMemory.latin1("\u20ac") == null
                && "proof".hashCode() == DirectMemory.knownHash("proof");
        Thread thread = Thread.currentThread();
        return memory && strings && DirectMemory.id(thread) == ThreadIds.of(thread);
    }

    private static boolean works(long at) {
        DirectMemory.putLong(at, 0x1122_3344_5566_7788L);
        DirectMemory.putInt(at + 4, 0x99aa_bbcc);
        DirectMemory.putByte(at, (byte) 0xdd);
        DirectMemory.orInt(at, 0x22);
        DirectMemory.andInt(at, ~0x5500_0000);
        return DirectMemory.getLong(at) == 0x99aa_bbcc_0066_77ffL
                && DirectMemory.getInt(at + 4) == 0x99aa_bbcc
                && DirectMemory.getByte(at) == (byte) 0xff
                && !DirectMemory.compareAndSetLong(at, 1, 2)
                && DirectMemory.compareAndSetLong(at, 0x99aa_bbcc_0066_77ffL, 3)
                && DirectMemory.getLong(at) == 3;
    }
}
