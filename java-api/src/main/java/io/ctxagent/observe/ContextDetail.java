package io.ctxagent.observe;

/**
 * What is known of a scope besides its length and its attributes.
 *
 * <p>Threads: any, as it does not change. Without the agent: there is none.
 *
 * @since 0.1
 */
public final class ContextDetail {
    private final int samples;

    ContextDetail(int samples) {
        this.samples = samples;
    }

    /**
     * Samples that a recording took of the thread while the scope was open, those of inner scopes
     * among them.
     *
     * @return their number; 0 if nothing records
     */
    public int samples() {
        return samples;
    }

    /**
     * The samples, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return samples + " samples";
    }
}
