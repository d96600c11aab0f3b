package io.ctxagent.internal.agent;

/**
 * Numbers of the agent's misuse counters, named like the counters ({@code api.double_close}). What
 * they count was repaired or refused, never thrown at the application.
 */
public final class Misuse {
    /** A scope was closed twice. */
    public static final int DOUBLE_CLOSE = 0;
    /** A scope was closed while a later one had a value in one of its slots. */
    public static final int CLOSE_OUT_OF_ORDER = 1;
    /** A scope was closed by a thread that did not open it. */
    public static final int CLOSE_ON_OTHER_THREAD = 2;
    /** The slab had no free block for a thread: no context. */
    public static final int NO_FREE_BLOCK = 3;
    /** A key was used that got no slot. */
    public static final int NO_SLOT = 4;
    /** A value was cut to the limit. */
    public static final int VALUE_CUT = 5;
    /** A raw value did not fit into the block: {@code (other)}. */
    public static final int RAW_AREA_FULL = 6;
    /** A value did not fit into the dictionary: raw, {@code (other)} where that is full, too. */
    public static final int VALUE_OTHER = 7;
    /** A lone surrogate became U+FFFD. */
    public static final int TEXT_REPLACED = 8;
    /** A sample's context was filtered; counted by the agent. */
    public static final int FILTERED = 9;
    /** All scopes of a thread ended: it was not known which of them were open. */
    public static final int ALL_ENDED = 10;
    /** A scope came from a builder that was made before the agent was loaded: not recorded. */
    public static final int MADE_BEFORE_AGENT = 11;
    /** How many there are. */
    public static final int COUNT = 12;

    private Misuse() {}
}
