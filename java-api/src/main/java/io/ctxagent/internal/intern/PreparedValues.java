package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.Layout;
import java.util.Arrays;

/**
 * What {@link RecentValues} copies into its constants. Made by code that can be run again, so that
 * its initialiser cannot fail.
 */
public final class PreparedValues {
    /** Recent values of one key. */
    static final int PER_KEY = 64;

    private static PreparedValues instance;

    final InternedValue none = InternedValue.none();
    final InternedValue[] recent = new InternedValue[2 * Layout.SLOTS * PER_KEY];

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
