package io.ctxagent.internal.agent;

import jdk.internal.javac.DirectMemory;

/** How {@link Memory} accesses the slab, directly or checked: found out once. */
final class MemoryAccess {
    final boolean isDirect = findOut();
    /** What {@link Memory#ORIGIN} is. */
    final long origin = isDirect ? DirectMemory.origin() : 1 << 12;

    private static boolean findOut() {
        try {
            return !"checked".equals(System.getProperty("io.ctxagent.memory"))
                    && Bridge.agent().openMemory(MemoryAccess.class.getModule())
                    && works();
        } catch (LinkageError | InternalError | RuntimeException notOpenedOrChanged) {
            // A missing field is an InternalError. A shortage of memory or stack is passed on: it
            // says nothing about the access.
            return false;
        }
    }

    /**
     * Tries all of {@link DirectMemory} once: what a later JDK lacks or changed must be found here,
     * not in the application.
     */
    private static boolean works() {
        Thread thread = Thread.currentThread();
        boolean memory;
        long spare = DirectMemory.spare();
        // Copies of this class in other loaders try the same bytes.
        synchronized (DirectMemory.class) {
            memory = memoryWorks(spare);
        }
        return memory
                && "proof".hashCode() == DirectMemory.knownHash("proof")
                && DirectMemory.id(thread) == ThreadIds.of(thread)
                && DirectMemory.allocatedBytes() >= -1;
    }

    private static boolean memoryWorks(long block) {
        DirectMemory.putLong(block, 8, 0x1122_3344_5566_7788L);
        DirectMemory.putInt(block, 12, 0x99aa_bbcc);
        DirectMemory.putByte(block, 8, (byte) 0xdd);
        DirectMemory.orInt(block, 8, 0x22);
        DirectMemory.andInt(block, 8, ~0x5500_0000);
        return DirectMemory.getLong(block, 8) == 0x99aa_bbcc_0066_77ffL
                && DirectMemory.getInt(block, 12) == 0x99aa_bbcc
                && DirectMemory.getByte(block, 8) == (byte) 0xff
                && !DirectMemory.compareAndSetLong(block, 8, 1, 2)
                && DirectMemory.compareAndSetLong(block, 8, 0x99aa_bbcc_0066_77ffL, 3)
                && DirectMemory.getLong(block, 8) == 3
                && stringsWork(block);
    }

    /** A VM may keep all strings in 16 bits a char; then no string is copied. */
    private static boolean stringsWork(long block) {
        return !DirectMemory.putAscii(block, 16, "\u20ac20.00 each")
                && (!DirectMemory.putAscii(block, 16, "evidence12")
                        || DirectMemory.getLong(block, 16) == 0x6563_6e65_6469_7665L
                                && DirectMemory.getLong(block, 18) == 0x3231_6563_6e65_6469L);
    }
}
