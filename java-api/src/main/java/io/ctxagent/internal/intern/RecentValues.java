package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.Layout;
import io.ctxagent.internal.agent.Memory;

/**
 * The values used lately, hit by identity: two places for each, a part for each slot and one that
 * stays empty. For keys whose values come by turns. Racy: values are immutable.
 *
 * <p>One constant array for all keys, see rule 8 of {@link
 * io.ctxagent.internal.agent.CompilerRules}. Initialised only when the agent is there.
 */
public final class RecentValues {
    private static final int PER_KEY = PreparedValues.PER_KEY;
    private static final int BITS = Integer.numberOfTrailingZeros(PER_KEY);
    /** The part of a key that keeps nothing. */
    public static final int EMPTY_PART = Layout.SLOTS * PER_KEY;

    // Nothing that can fail, see ContextSupport.
    private static final InternedValue[] VALUES = PreparedValues.instance().recent;
    /** In place of {@code null}. */
    public static final InternedValue NONE = PreparedValues.instance().none;

    private RecentValues() {
    }

    /** Has the VM initialise this class. */
    public static void initialise() {
    }

    /** Where {@link #candidate} may find {@code value}, or else {@link #second}. */
    public static int place(int part, String value) {
        return part | place(Memory.knownHash(value));
    }

    /** High bits of a product: the low ones of a string's hash code hardly differ for numbers. */
    private static int place(int hash) {
        return hash * 0x9e37_79b9 >>> Integer.SIZE - BITS;
    }

    /** What is at a place; the caller compares. */
    public static InternedValue candidate(int place) {
        return VALUES[place & VALUES.length - 1];
    }

    /** What is at its second place. */
    public static InternedValue second(int place) {
        return VALUES[(place ^ 1) & VALUES.length - 1];
    }

    /** Keeps a value of the key in {@code slot}. Returns the key's part. */
    public static int keep(int slot, InternedValue value) {
        int part = slot * PER_KEY;
        int place = part | place(value.value.hashCode());
        if (VALUES[place] != value) {
            VALUES[place ^ 1] = VALUES[place];
            VALUES[place] = value;
        }
        return part;
    }
}
