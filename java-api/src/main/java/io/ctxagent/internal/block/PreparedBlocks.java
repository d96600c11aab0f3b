package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the classes of this package copy into their constants. Made once, by code that can be
 * run again; so their initialisers cannot fail.
 */
public final class PreparedBlocks {
    private static PreparedBlocks instance;

    final StickyOwners stickyOwners = new StickyOwners(BlockLayout.BLOCKS);
    final Map<Long, ForeignClose> foreignCloses = new LinkedHashMap<>();

    private PreparedBlocks() {}

    /** Makes it. */
    public static void make() {
        if (instance == null) {
            instance = new PreparedBlocks();
        }
        CoveredScopes.Prepared.make();
    }

    /** {@code null} until {@link #make} succeeded. */
    static PreparedBlocks instance() {
        return instance;
    }
}
