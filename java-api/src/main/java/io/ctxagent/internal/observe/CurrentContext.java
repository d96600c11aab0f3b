package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.BlockText;
import io.ctxagent.internal.block.CurrentBlock;
import java.util.Map;

/** The context of the current thread as an entry has it. */
public final class CurrentContext {
    private CurrentContext() {}

    /** Its attributes by name; empty without the agent. */
    public static Map<String, String> attributes() {
        return Bridge.state() == Bridge.READY
                ? BlockText.map(CurrentBlock.forReading(CurrentThread.key()))
                : Map.of();
    }
}
