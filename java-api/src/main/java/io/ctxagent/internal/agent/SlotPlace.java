package io.ctxagent.internal.agent;

/**
 * A slot as one number: where it lies in a block, in the lowest byte, and its bit among the slots
 * in the next one. May be used as an offset in {@link Memory}, for which only the lowest byte
 * counts.
 */
public final class SlotPlace {
    private SlotPlace() {}

    public static int of(int slot) {
        return BlockLayout.IDS + slot * Long.BYTES | 1 << slot + Byte.SIZE;
    }

    public static int slot(int place) {
        return ((place & 0xff) - BlockLayout.IDS) / Long.BYTES;
    }

    /** An attribute as one number: where its slot lies in a block, and the value's id. */
    public static long entry(int place, int id) {
        return (long) place << Integer.SIZE | Integer.toUnsignedLong(id);
    }

    /** The bits of places that were combined by "or". */
    public static int bits(int places) {
        return places >>> Byte.SIZE;
    }

    /** How many slots the places have that were combined in the upper half of {@code entries}. */
    public static int count(long entries) {
        return Long.bitCount(entries >>> Integer.SIZE + Byte.SIZE);
    }
}
