package io.ctxagent.observe;

/**
 * What an entry is about. Which types there are in this VM, {@link
 * ContextObserver#supportedEntryTypes} says.
 *
 * <p>Threads: any. Without the agent: {@link #MARK}, {@link #MEASURE}, {@link #FUNCTION} and {@link
 * #GC} work all the same.
 *
 * @since 0.1
 */
public enum EntryType {
    /** A moment that {@link Marks#mark(String)} noted. Its detail is what the caller gave. */
    MARK,
    /** A span of time that {@link Marks#measure(String)} noted. As a mark. */
    MEASURE,
    /** A call of a function of {@link Timed}; its detail is a {@link FunctionDetail}. */
    FUNCTION,
    /** A collection of the garbage collector; its detail is a {@link GcDetail}. */
    GC
}
