package io.ctxagent.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.observe.LabelSources;
import java.time.Duration;

/**
 * Moments of the start: the counterpart of Node's {@code performance.nodeTiming}.
 *
 * <p>Threads: any. Cost: a microsecond. Without the agent: only {@link #PROCESS_START} is known.
 *
 * @since 0.1
 */
public enum Milestone {
    /** The process began; the system tells it in hundredths of a second. */
    PROCESS_START,
    /** The agent was loaded. */
    AGENT_LOADED,
    /** The VM was initialised, or an agent that came later was; {@code main} begins then. */
    VM_INITIALISED,
    /** The first request began that a source of labels saw. */
    FIRST_REQUEST;

    /**
     * When it was, as of {@link System#nanoTime}.
     *
     * @return nanoseconds; 0 if it is not known, or has not been yet
     */
    public long nanos() {
        switch (this) {
            case PROCESS_START:
                return Marks.PROCESS_START;
            case FIRST_REQUEST:
                return LabelSources.firstRequest();
            default:
                Agent agent = Bridge.agent();
                long[] times = agent == null ? null : agent.milestones();
                return times == null ? 0 : times[ordinal() - AGENT_LOADED.ordinal()];
        }
    }

    /**
     * How long it was after the process began.
     *
     * @return the time; {@code null} if it is not known, or has not been yet
     */
    public Duration sinceStart() {
        long nanos = nanos();
        return nanos == 0 ? null : Duration.ofNanos(nanos - Marks.PROCESS_START);
    }
}
