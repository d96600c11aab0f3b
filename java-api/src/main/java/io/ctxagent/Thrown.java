package io.ctxagent;

/** What others' code threw goes on as it is: languages without checked exceptions throw them where none is declared. */
final class Thrown {
    private Thrown() {
    }

    /** Throws {@code thrown}. Declared to return, so that {@code throw} may be written before the call. */
    static RuntimeException again(Throwable thrown) {
        throw Thrown.<RuntimeException>unchecked(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
