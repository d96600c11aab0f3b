package io.ctxagent.internal.block;

/** The conditions of one event type, resolved to slots and ids. All must hold. */
public final class EventCondition {
    /** Kinds of conditions. */
    public static final int CONTEXT = 0;

    public static final int NO_CONTEXT = 1;
    public static final int KEY = 2;
    public static final int ENTRY = 3;

    final int bit;
    private final int[] kinds;
    private final int[] slots;
    private final int[] ids;
    private final byte[][] values;

    /** {@code count} conditions, to be set, of the event type with this bit. */
    public EventCondition(int bit, int count) {
        this.bit = bit;
        kinds = new int[count];
        slots = new int[count];
        ids = new int[count];
        values = new byte[count][];
    }

    /**
     * Sets a condition. {@code slot} may be negative; {@code value} is {@code null} but for ENTRY.
     */
    public void set(int i, int kind, int slot, int id, String value) {
        kinds[i] = kind;
        slots[i] = slot;
        ids[i] = id;
        values[i] = value == null ? null : RawArea.bytes(value);
    }

    boolean holds(long block, boolean context) {
        for (int i = 0; i < kinds.length; i++) {
            if (!holds(block, context, i)) {
                return false;
            }
        }
        return true;
    }

    private boolean holds(long block, boolean context, int i) {
        switch (kinds[i]) {
            case CONTEXT:
                return context;
            case NO_CONTEXT:
                return !context;
            case KEY:
                return slots[i] >= 0 && Slab.id(block, slots[i]) != 0;
            default:
                return slots[i] >= 0 && isEntry(block, Slab.id(block, slots[i]), i);
        }
    }

    private boolean isEntry(long block, int id, int i) {
        if (id == ids[i]) {
            return true;
        }
        byte[] value = values[i];
        if (!RawArea.isRaw(id) || RawArea.textLength(id) != value.length) {
            return false;
        }
        for (int at = 0; at < value.length; at++) {
            if (RawArea.textByte(block, id, at) != value[at]) {
                return false;
            }
        }
        return true;
    }
}
