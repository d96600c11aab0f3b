package io.ctxagent.internal.intern;

/** A key that has a slot: what the hot path asks where a value is not at hand. */
public interface BoundKey {
    /**
     * The id of a value, 0 for {@code null}, or {@link ValueIds#TO_RAW} if the value is to be
     * written raw.
     */
    int idOf(String value);
}
