package io.ctxagent.internal.agent;

/**
 * The offsets in a block of the slab, and limits. Read from the agent once. {@code
 * docs/contributing/memory-model.md} draws the block.
 */
public final class Layout {
    private static final int NUMBERS = 22;
    /** Attributes of a context. */
    public static final int SLOTS = 8;

    /** Bytes of a block. */
    public final int stride;
    /** Number of blocks, a power of two. */
    public final int blocks;
    /** Places that are tried for a key. */
    public final int probeLimit;

    public final int owner;
    public final int seq;
    public final int flags;
    public final int ids;
    public final int eventMask;
    public final int nextSerial;
    public final int raw;
    public final int rawLength;
    public final int rawBit;
    /** Set besides in the id of a raw value whose bytes are two hexadecimal digits each. */
    public final int hexBit;

    public final int overflowId;
    /** Whether {@link Agent#currentThreadKey} names threads, instead of their id. */
    public final boolean keyFromAgent;
    /** Bytes of UTF-8 that a value may have. */
    public final int valueLimit;

    public final int rawUsed;
    /** Samples taken so far with the block. */
    public final int samples;
    /** Of what a carried context comes from: the activation, its thread, its scope; a long each. */
    public final int carried;

    public final int originOwner;
    public final int originScope;
    /** Of the innermost timed scope; an int. */
    public final int frame;

    private Layout(long[] n) {
        stride = (int) n[0];
        blocks = (int) n[1];
        probeLimit = (int) n[2];
        owner = (int) n[3];
        seq = (int) n[4];
        flags = (int) n[5];
        ids = (int) n[6];
        eventMask = (int) n[7];
        nextSerial = (int) n[8];
        raw = (int) n[9];
        rawLength = (int) n[10];
        rawBit = (int) n[11];
        overflowId = (int) n[12];
        keyFromAgent = n[13] != 0;
        valueLimit = (int) n[14];
        rawUsed = (int) n[15];
        samples = (int) n[16];
        carried = (int) n[17];
        originOwner = (int) n[18];
        originScope = (int) n[19];
        hexBit = (int) n[20];
        frame = (int) n[21];
    }

    /**
     * The layout in {@code numbers}, or {@code null} if it is not one that the hot path can work
     * on: a slot is one long whose place in the block is one byte, and nothing may lie outside a
     * block or outside the slab of {@code capacity} bytes.
     */
    static Layout of(long[] numbers, int capacity) {
        if (numbers == null || numbers.length < NUMBERS) {
            return null;
        }
        Layout l = new Layout(numbers);
        boolean table = Integer.bitCount(l.blocks) == 1
                && l.probeLimit > 0
                && l.probeLimit <= l.blocks
                && l.stride >= Long.BYTES
                && l.stride % Long.BYTES == 0
                && (long) l.blocks * l.stride <= capacity;
        boolean aligned = l.fits(l.owner, Long.BYTES)
                && l.fits(l.seq, Integer.BYTES)
                && l.fits(l.flags, Integer.BYTES)
                && l.fits(l.ids, Long.BYTES)
                && l.fits(l.ids + (SLOTS - 1) * Long.BYTES, Long.BYTES)
                && l.ids + SLOTS * Long.BYTES <= 0x100
                && l.fits(l.eventMask, Integer.BYTES)
                && l.fits(l.nextSerial, Integer.BYTES)
                && l.fits(l.rawUsed, Long.BYTES)
                && l.fits(l.samples, Integer.BYTES)
                && l.fits(l.frame, Integer.BYTES)
                && l.fits(l.carried, Long.BYTES)
                && l.fits(l.originOwner, Long.BYTES)
                && l.fits(l.originScope, Long.BYTES);
        boolean raw = l.raw >= 0
                && l.raw % Long.BYTES == 0
                && l.rawLength >= 0
                && l.rawLength <= Long.SIZE
                && l.raw + l.rawLength <= l.stride
                && l.rawBit != 0
                && l.valueLimit >= 4;
        return table && aligned && raw ? l : null;
    }

    private boolean fits(int offset, int size) {
        return offset >= 0 && offset % size == 0 && offset + size <= stride;
    }
}
