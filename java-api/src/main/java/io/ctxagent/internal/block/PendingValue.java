package io.ctxagent.internal.block;

/**
 * A value of a builder that was not at hand when it was added. The builder keeps the first itself;
 * these are the others, the last first.
 */
public final class PendingValue {
    private final int at;
    private final String value;
    private final PendingValue before;

    private PendingValue(int at, String value, PendingValue before) {
        this.at = at;
        this.value = value;
        this.before = before;
    }

    /** {@code before}, which may be {@code null}, and the value of the entry {@code at}. */
    public static PendingValue with(PendingValue before, int at, String value) {
        return new PendingValue(at, value, before);
    }

    /** The value of the entry {@code at}, or {@code first} if it is not among {@code values}. */
    static String find(PendingValue values, int at, String first) {
        for (PendingValue v = values; v != null; v = v.before) {
            if (v.at == at) {
                return v.value;
            }
        }
        return first;
    }
}
