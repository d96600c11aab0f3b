package io.ctxagent.internal.agent;

/**
 * Numbers of the agent's misuse counters, named like the counters ({@code api.double_close}). What
 * they count was repaired or refused, never thrown at the application.
 */
public final class Misuse {
    /** A scope was closed twice. */
    public static final int DOUBLE_CLOSE = 0;
    /** A scope was closed while inner ones were open; they ended with it. */
    public static final int CLOSE_OUT_OF_ORDER = 1;
    /** A scope was closed that had ended with an outer one. */
    public static final int CLOSE_AFTER_OUTER = 2;
    /** A scope was closed by a thread that did not open it. */
    public static final int CLOSE_ON_OTHER_THREAD = 3;
    /** The slab had no free block for a thread: no context. */
    public static final int NO_FREE_BLOCK = 4;
    /** A key was used that got no slot. */
    public static final int NO_SLOT = 5;
    /** A value was cut to the limit. */
    public static final int VALUE_CUT = 6;
    /** A raw value did not fit into the block: {@code (other)}. */
    public static final int RAW_AREA_FULL = 7;
    /** A value did not fit into the dictionary: raw, {@code (other)} where that is full, too. */
    public static final int VALUE_OTHER = 8;
    /** A lone surrogate became U+FFFD. */
    public static final int TEXT_REPLACED = 9;
    /** A sample's context was filtered; counted by the agent. */
    public static final int FILTERED = 10;
    /** All scopes of a thread ended: it was not known which of them were open. */
    public static final int ALL_ENDED = 11;
    /** A scope came from a builder that was made before the agent was loaded: not recorded. */
    public static final int MADE_BEFORE_AGENT = 12;
    /** How many there are. */
    public static final int COUNT = 13;

    private Misuse() {
    }
}
