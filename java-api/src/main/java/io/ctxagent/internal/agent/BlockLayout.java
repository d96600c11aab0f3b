package io.ctxagent.internal.agent;

/**
 * The {@link Layout} as constants, which the compiler folds into the code. Initialised only when
 * the agent is there.
 */
public final class BlockLayout {
    /** Attributes of a context. */
    public static final int SLOTS = Layout.SLOTS;
    /** Number of blocks, a power of two. */
    public static final int BLOCKS;
    /** Places that are tried for a key. */
    public static final int PROBE_LIMIT;
    /** Bytes of a block. */
    public static final int STRIDE;

    public static final int OWNER;
    public static final int SEQUENCE;
    public static final int FLAGS;
    /** Of the first slot: a value id, and the serial of the scope that set it. */
    public static final int IDS;

    public static final int EVENT_MASK;
    public static final int NEXT_SERIAL;
    public static final int RAW;
    /** Of a bit for each byte of the raw area. */
    public static final int RAW_USED;
    /** Of the number of samples taken with the block. */
    public static final int SAMPLES;
    /** Of what a carried context comes from, see {@link Layout#carried}. */
    public static final int CARRIED;

    public static final int FRAME;
    public static final int ORIGIN_OWNER;
    public static final int ORIGIN_SCOPE;
    /** Bytes of the raw area. */
    public static final int RAW_LENGTH;
    /** Set in the id of a raw value. */
    public static final int RAW_BIT;
    /** Set besides in the id of a raw value whose bytes are two hexadecimal digits each. */
    public static final int HEX_BIT;
    /** The id of a value that did not fit: {@code (other)}. */
    public static final int OVERFLOW_ID;
    /** Bytes of UTF-8 that a value may have. */
    public static final int VALUE_LIMIT;
    /** Whether the agent names threads, and so may answer 0, the mark of a free block. */
    public static final boolean KEY_FROM_AGENT;

    static {
        // Nothing that can fail, see ContextSupport.
        Layout l = Bridge.layout();
        BLOCKS = l.blocks;
        PROBE_LIMIT = l.probeLimit;
        STRIDE = l.stride;
        OWNER = l.owner;
        SEQUENCE = l.seq;
        FLAGS = l.flags;
        IDS = l.ids;
        EVENT_MASK = l.eventMask;
        NEXT_SERIAL = l.nextSerial;
        RAW = l.raw;
        RAW_USED = l.rawUsed;
        SAMPLES = l.samples;
        CARRIED = l.carried;
        ORIGIN_OWNER = l.originOwner;
        ORIGIN_SCOPE = l.originScope;
        FRAME = l.frame;
        RAW_LENGTH = l.rawLength;
        RAW_BIT = l.rawBit;
        HEX_BIT = l.hexBit;
        OVERFLOW_ID = l.overflowId;
        VALUE_LIMIT = l.valueLimit;
        KEY_FROM_AGENT = l.keyFromAgent;
    }

    private BlockLayout() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}
}
