package io.ctxagent;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** Commands to the agent. */
public class AgentControlTest extends ContextTestCase {
    @Test
    public void statusAnswers() {
        assertFalse(AgentControl.execute("status").isEmpty());
    }

    @Test
    public void unknownOptionIsRefused() {
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> AgentControl.execute("start,intervall=10ms"))
                .getMessage();
        assertTrue(message, message.contains("intervall"));
        assertThrows(NullPointerException.class, () -> AgentControl.execute(null));
    }
}
