package io.ctxagent;

import io.ctxagent.internal.agent.Agent;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Commands to the agent, in the grammar of its options: {@code
 * AgentControl.execute("dump,file=now.jfr")}.
 *
 * <p>Threads: any. Cost: that of the command; {@code start}, {@code stop} and {@code dump} take
 * milliseconds and write files. Without the agent: {@link #execute} throws.
 *
 * @since 0.1
 */
public final class AgentControl {
    private static final String BUNDLED_AGENT = "io.ctxagent.internal.loader.AgentLibrary";

    private AgentControl() {}

    /**
     * Runs a command and returns what the command line would print. Without an agent, {@code
     * start} loads the one in {@code ctxagent.jar}; {@code ctxagent-api.jar} has none.
     *
     * @param options {@code start,…}, {@code stop}, {@code pause}, {@code resume}, {@code
     *     dump,file=…}, {@code status} or {@code version}; not {@code null}
     * @return the answer, not {@code null}
     * @throws IllegalArgumentException if an option or a value is not known; the message names it
     *     and what is allowed
     * @throws IllegalStateException if no agent is loaded and none can be, or if the command cannot
     *     be carried out now, like {@code pause} while no recording is running; the message says
     *     why. A {@code start} that cannot is a warning of the agent, and the answer says why,
     *     unless it is {@code strict}; one that asks for what runs already changes nothing
     */
    public static String execute(String options) {
        Objects.requireNonNull(options, "the options are null");
        Agent agent = ContextSupport.agent();
        if (agent == null) {
            UnaryOperator<String> loader = isStart(options) ? bundledAgent() : null;
            if (loader != null) {
                return loader.apply(options);
            }
            throw new IllegalStateException("no agent is loaded in this VM; start it with "
                    + "-javaagent:<path>/ctxagent.jar or -agentpath:<path>/libctxagent.so, "
                    + "or load it with: jcmd <pid> JVMTI.agent_load <path>/libctxagent.so");
        }
        String answer = agent.execute(options);
        return answer != null ? answer : "";
    }

    private static boolean isStart(String options) {
        return options.equals("start") || options.startsWith("start,");
    }

    /** What loads the agent of this jar and runs a command; {@code null} if this jar has none. */
    @SuppressWarnings("unchecked")
    private static UnaryOperator<String> bundledAgent() {
        try {
            return (UnaryOperator<String>)
                    Class.forName(BUNDLED_AGENT).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException onlyTheApi) {
            return null;
        }
    }
}
