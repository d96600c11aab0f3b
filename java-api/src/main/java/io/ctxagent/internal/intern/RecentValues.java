package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.Layout;
import io.ctxagent.internal.agent.Memory;

/**
 * The values used lately, hit by identity: direct-mapped, a part for each slot and one that stays
 * empty. For keys whose values come by turns. Racy: values are immutable.
 *
 * <p>One constant array for all keys, see rule 8 of {@link
 * io.ctxagent.internal.agent.CompilerRules}. Initialised only when the agent is there.
 */
public final class RecentValues {
    private static final int PER_KEY = PreparedValues.PER_KEY;
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

    /** What a part has in the place of {@code value}; the caller compares. */
    public static InternedValue candidate(int part, String value) {
        int at = part | Memory.knownHash(value) & PER_KEY - 1;
        return VALUES[at & VALUES.length - 1];
    }

    /** Keeps a value of the key in {@code slot}. Returns the key's part. */
    public static int keep(int slot, InternedValue value) {
        int part = slot * PER_KEY;
        VALUES[part | value.value.hashCode() & PER_KEY - 1] = value;
        return part;
    }
}
