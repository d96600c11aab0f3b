package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.Bridge;

/** A source that asks the agent for entries, which may come after the observer. */
public abstract class AgentSource implements EntrySource {
    /** An agent that could not do it is asked again after so many rounds of the collector. */
    private static final int ROUNDS = 50;

    private boolean isOn;
    private boolean isTold;
    private int rounds;

    @Override
    public final void turn(boolean on) {
        isOn = on;
        rounds = 0;
        if (on || isTold) {
            isTold = tell(on) && on;
        }
    }

    @Override
    public final void poll() {
        if (isOn && !isTold && Bridge.agent() != null && rounds++ % ROUNDS == 0) {
            isTold = tell(true);
        }
    }

    private boolean tell(boolean on) {
        Agent agent = Bridge.agent();
        return agent != null && tell(agent, on);
    }

    /** Tells the agent to have entries made, or no longer. {@code false}: it cannot now. */
    protected abstract boolean tell(Agent agent, boolean on);
}
