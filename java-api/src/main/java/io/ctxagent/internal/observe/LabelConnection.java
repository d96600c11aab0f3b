package io.ctxagent.internal.observe;

/** Makes an observer known to the agent's sources of labels, which may come after it. */
public final class LabelConnection {
    /** They come with a recording: asked again after so many rounds of the collector. */
    private static final int ROUNDS = 50;

    private final String method;
    private final Class<?> type;
    private final Object observer;

    private boolean isOn;
    private boolean isConnected;
    private int rounds;

    /** {@code method}: of the sources' class, with a parameter of this type for the observer. */
    public <T> LabelConnection(String method, Class<T> type, T observer) {
        this.method = method;
        this.type = type;
        this.observer = observer;
    }

    /** As {@link EntrySource#turn}. */
    public void turn(boolean on) {
        isOn = on;
        rounds = 0;
        if (on || isConnected) {
            isConnected = tell(on) && on;
        }
    }

    /** As {@link EntrySource#poll}. */
    public void poll() {
        if (isOn && !isConnected && ++rounds % ROUNDS == 0) {
            isConnected = tell(true);
        }
    }

    private boolean tell(boolean on) {
        return LabelSources.observe(method, type, observer, on);
    }
}
