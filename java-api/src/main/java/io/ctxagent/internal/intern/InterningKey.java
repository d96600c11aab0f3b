package io.ctxagent.internal.intern;

/** A key with a slot, whose values {@link ValueIds} interns. */
public interface InterningKey {
    /** The slot. */
    int boundSlot();

    /**
     * Keeps a value at hand that needs no repair; {@code newest} if it was not in the table in
     * front of the map.
     */
    void keep(InternedValue value, boolean newest);

    /** Keeps no value at hand, so that each use of a value is looked up and counted. */
    void keepNone();

    /** Has all values written raw from now on. */
    void demote();
}
