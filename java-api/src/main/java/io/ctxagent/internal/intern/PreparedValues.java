package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.Layout;
import java.util.Arrays;

/**
 * What {@link RecentValues} copies into its constants. Made by code that can be run again, so that
 * its initialiser cannot fail.
 */
public final class PreparedValues {
    /** Recent values of one slot: twice as many as are often in use. */
    static final int PER_SLOT = 2_048;

    private static PreparedValues instance;

    final InternedValue none = InternedValue.none();
    final InternedValue[] recent = new InternedValue[Layout.SLOTS * PER_SLOT];
    final BoundKey[] keys = new BoundKey[Layout.SLOTS];

    private PreparedValues() {
        Arrays.fill(recent, none);
    }

    /** Makes it. */
    public static void make() {
        if (instance == null) {
            instance = new PreparedValues();
        }
    }

    /** {@code null} until {@link #make} succeeded. */
    static PreparedValues instance() {
        return instance;
    }
}
