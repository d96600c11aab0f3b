package io.ctxagent.observe;

/**
 * What is known of a call of a {@link Timed} function besides its length.
 *
 * <p>Threads: any, as it does not change. Without the agent: as with it.
 *
 * @since 0.1
 */
public final class FunctionDetail {
    private final String failure;

    FunctionDetail(Throwable failure) {
        this.failure = failure == null ? null : failure.getClass().getName();
    }

    /**
     * The class of what the function threw, or its stage ended with.
     *
     * @return the name of the class, or {@code null} if it ended well
     */
    public String failure() {
        return failure;
    }

    /**
     * The failure, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return failure == null ? "ended well" : "failed: " + failure;
    }
}
