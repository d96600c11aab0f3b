package io.ctxagent.internal.intern;

/** A key that has a slot: what the hot path asks where a value is not at hand. */
public interface BoundKey {
    /**
     * In place of an id: the value is to be written raw. No id of the dictionary or the raw area.
     */
    int TO_RAW = 0xff00_0000;

    /** The id of a value, 0 for {@code null}, or {@link #TO_RAW}. */
    int idOf(String value);
}
