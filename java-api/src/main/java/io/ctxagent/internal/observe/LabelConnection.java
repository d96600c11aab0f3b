package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.Agent;

/** Makes an observer known to the agent's sources of labels. */
public final class LabelConnection extends AgentSource {
    private final String method;
    private final Class<?> type;
    private final Object observer;

    /** {@code method}: of the sources' class, with a parameter of this type for the observer. */
    public <T> LabelConnection(String method, Class<T> type, T observer) {
        this.method = method;
        this.type = type;
        this.observer = observer;
    }

    @Override
    protected boolean tell(Agent agent, boolean on) {
        return agent.prepareLabels() && LabelSources.observe(method, type, observer, on);
    }
}
