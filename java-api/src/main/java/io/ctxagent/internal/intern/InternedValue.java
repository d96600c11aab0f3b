package io.ctxagent.internal.intern;

/** A value as the application gave it, its id, and what had to be repaired in it. Immutable. */
public final class InternedValue {
    /** The string, hit by identity. */
    public final String value;
    final int id;
    /** The {@link AttributeEntry} of the key's slot and the id. */
    public final long entry;
    /** Bits of {@link ValueIds}. */
    final int repairs;

    InternedValue(String value, int slot, int id, int repairs) {
        this.value = value;
        this.id = id;
        this.entry = AttributeEntry.of(slot, id);
        this.repairs = repairs;
    }

    private InternedValue(String value) {
        this.value = value;
        id = 0;
        entry = AttributeEntry.NONE;
        repairs = 0;
    }

    /** In place of a value: has a string that no application has. */
    public static InternedValue none() {
        return new InternedValue(new String("no value yet"));
    }

    boolean is(String other) {
        return value == other || value.equals(other);
    }
}
