package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.Memory;
import io.ctxagent.internal.agent.SlotPlace;
import java.util.Arrays;

/**
 * The values used lately, hit by identity: a part for each slot, two places for each value. Racy:
 * values are immutable.
 *
 * <p>One constant array for all slots, see rule 8 of {@link CompilerRules}. Initialised only when
 * the agent is there.
 */
public final class RecentValues {
    /** In place of an id: the value is not at hand. */
    public static final int UNKNOWN = BoundKey.TO_RAW;

    private static final int PER_SLOT = PreparedValues.PER_SLOT;
    private static final int BITS = Integer.numberOfTrailingZeros(PER_SLOT);
    /** Of the place of the slot's part; the first slot's is 0. */
    private static final int PARTS_AT = BlockLayout.IDS / Long.BYTES * PER_SLOT;

    // Nothing that can fail, see ContextSupport.
    private static final InternedValue[] VALUES = PreparedValues.instance().recent;
    private static final InternedValue NONE = PreparedValues.instance().none;
    private static final BoundKey[] KEYS = PreparedValues.instance().keys;

    private RecentValues() {}

    /** Has the VM initialise this class. */
    public static void initialise() {}

    /**
     * The entry of the attribute whose slot lies at {@code place} and of a value, with {@link
     * #UNKNOWN} as the id, a negative number, if that is not at hand. So short that eight of them
     * in a method do not make it large.
     */
    public static long find(int place, String value) {
        if (value == null) {
            return SlotPlace.entry(place, 0);
        }
        InternedValue v = VALUES[first(place, Memory.knownHash(value)) & VALUES.length - 1];
        return v.value == value ? v.entry : SlotPlace.entry(place, UNKNOWN);
    }

    /** The id of a value; {@link BoundKey#TO_RAW} if it is to be written raw. May intern it. */
    public static int idOf(int place, String value) {
        int id = (int) find(place, value);
        return id >= 0 ? id : idOfOther(place, value);
    }

    /** The same for a value that {@link #find} did not find. */
    public static int idOfOther(int place, String value) {
        return idOfOther(CompilerRules.KEEP_CALL, place, value);
    }

    /** The entry of a value that {@link #find} did not find, as {@link #idOfOther}. */
    public static long entryOfOther(int place, String value) {
        return SlotPlace.entry(place, idOfOther(CompilerRules.KEEP_CALL, place, value));
    }

    private static int idOfOther(int callsLeft, int place, String value) {
        if (callsLeft > 0) {
            return idOfOther(callsLeft - 1, place, value);
        }
        InternedValue v = VALUES[second(place, Memory.knownHash(value)) & VALUES.length - 1];
        return v.value == value ? v.id : KEYS[SlotPlace.slot(place)].idOf(value);
    }

    /**
     * Values that end in numbers have hash codes, and so places, that are close: few cache lines.
     */
    private static int first(int place, int hash) {
        return part(place) + (hash & PER_SLOT - 1);
    }

    private static int second(int place, int hash) {
        return part(place) + (hash * 0x9e37_79b9 >>> Integer.SIZE - BITS);
    }

    /** Where the part of a slot begins, but for a multiple of the length of all. */
    private static int part(int place) {
        return place * (PER_SLOT / Long.BYTES) - PARTS_AT;
    }

    /** Says whose values a slot has. */
    public static void bind(int slot, BoundKey key) {
        KEYS[slot] = key;
    }

    /** Keeps a value at hand that needs no repair. */
    static void keep(int slot, InternedValue value) {
        int place = SlotPlace.of(slot);
        int first = first(place, value.value.hashCode()) & VALUES.length - 1;
        InternedValue before = VALUES[first];
        if (before != value) {
            VALUES[first] = value;
            if (before != NONE) {
                VALUES[second(place, before.value.hashCode()) & VALUES.length - 1] = before;
            }
        }
    }

    /** From now on each use of a value of this slot is looked up, and counted. */
    static void forget(int slot) {
        Arrays.fill(VALUES, slot * PER_SLOT, (slot + 1) * PER_SLOT, NONE);
    }
}
