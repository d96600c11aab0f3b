package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.ctxagent.internal.agent.AgentDouble;
import io.ctxagent.internal.agent.Bridge;
import java.time.Duration;
import org.junit.Test;

public class MilestoneTest extends ObserverTestCase {
    @Test
    public void startIsToldInOrder() {
        assertEquals(Duration.ZERO, Milestone.PROCESS_START.sinceStart());
        assertEquals(0, Milestone.FIRST_REQUEST.nanos());
        assertNull("there was none", Milestone.FIRST_REQUEST.sinceStart());
        if (!(Bridge.agent() instanceof AgentDouble)) {
            long loaded = Milestone.AGENT_LOADED.nanos();
            long up = Milestone.VM_INITIALISED.nanos();
            assertTrue(loaded < up && up < System.nanoTime());
            // The system cuts the start to hundredths of a second.
            assertTrue(Milestone.AGENT_LOADED.sinceStart().toMillis() > -20);
        }
    }
}
