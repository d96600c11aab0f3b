package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.SlotPlace;

/** A value as the application gave it, its id, and what had to be repaired in it. Immutable. */
final class InternedValue {
    /** The string, hit by identity. */
    final String value;

    final int id;
    /** The id, and above that where the slot lies in a block. */
    final long entry;
    /** Bits of {@link ValueIds}. */
    final int repairs;

    InternedValue(String value, int slot, int id, int repairs) {
        this.value = value;
        this.id = id;
        this.entry = SlotPlace.entry(SlotPlace.of(slot), id);
        this.repairs = repairs;
    }

    private InternedValue(String value) {
        this.value = value;
        id = 0;
        entry = 0;
        repairs = 0;
    }

    /** In place of a value: has a string that no application has. */
    static InternedValue none() {
        return new InternedValue(new String("no value yet"));
    }

    boolean is(String other) {
        return value == other || value.equals(other);
    }
}
