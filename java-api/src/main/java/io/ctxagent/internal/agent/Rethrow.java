package io.ctxagent.internal.agent;

/**
 * Passes on what foreign code threw, checked exceptions too: languages without checked exceptions
 * throw them where none is declared.
 */
public final class Rethrow {
    private Rethrow() {}

    /** Throws {@code thrown}. Declared to return, so that {@code throw} may precede the call. */
    public static RuntimeException unchecked(Throwable thrown) {
        throw Rethrow.<RuntimeException>as(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T as(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
