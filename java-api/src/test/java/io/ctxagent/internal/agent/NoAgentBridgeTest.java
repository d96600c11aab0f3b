package io.ctxagent.internal.agent;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

/** An agent that speaks another contract than this API. */
public class NoAgentBridgeTest {
    @Test
    public void otherContractIsRefused() {
        assertEquals(List.of("abi", "refused " + Bridge.ABI), callsTo(2));
        // Not up yet: no refusal.
        assertEquals(List.of("abi"), callsTo(0));
    }

    private static List<String> callsTo(int abi) {
        List<String> calls = new ArrayList<>();
        Agent fake = (Agent) Proxy.newProxyInstance(
                Agent.class.getClassLoader(),
                new Class<?>[] {Agent.class},
                (self, method, arguments) -> {
                    calls.add(
                            arguments == null
                                    ? method.getName()
                                    : method.getName() + " " + arguments[0]);
                    return method.getName().equals("abi") ? abi : null;
                });
        Bridge.connectTo(fake);
        try {
            assertNull(Bridge.agent());
            return new ArrayList<>(calls);
        } finally {
            Bridge.connectTo(null);
        }
    }
}
