package io.ctxagent.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whether the agent is there, and the way to it. Decided when this class is initialised, and once more when the agent
 * is loaded into the running VM.
 */
public final class Bridge {
    private static final int ABI = 1;

    private static Agent instead;
    private static volatile Agent agent;
    private static volatile boolean active;
    private static Layout layout;
    private static ByteBuffer slab;

    static {
        connect();
    }

    private Bridge() {
    }

    /** Whether contexts are on: the hot path asks this first. */
    public static boolean active() {
        return active;
    }

    /** The agent, or {@code null} if none is loaded. */
    public static Agent agent() {
        return agent;
    }

    /** The layout of the slab; not {@code null} once {@link #active()}. */
    public static Layout layout() {
        return layout;
    }

    /** The slab in native byte order; not {@code null} once {@link #active()}. */
    public static ByteBuffer slab() {
        return slab;
    }

    /** Adds one to a counter of {@link Misuse}. */
    public static void count(int event) {
        Agent a = agent;
        if (a != null) {
            a.count(event);
        }
    }

    /** Called by the agent when it was loaded after this class. Contexts opened before stay no-ops. */
    public static void agentLoaded() {
        connect();
    }

    /** Called by the agent before it starts a recording, so that context types have their columns from the first chunk on. */
    public static void beforeRecording() {
        connect();
        Registrations.run();
    }

    /** For tests: use {@code fake} where no agent is loaded. */
    static void connectInstead(Agent fake) {
        instead = fake;
        connect();
    }

    private static synchronized void connect() {
        if (agent != null) {
            return;
        }
        Agent found = find();
        if (found == null) {
            return;
        }
        ByteBuffer memory = found.slab();
        if (memory != null && memory.isDirect() && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            // A duplicate, so that nobody else can change position, limit or byte order.
            slab = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            layout = Layout.of(found.layout(), slab.capacity());
        }
        agent = found;
        active = layout != null;
    }

    private static Agent find() {
        Agent candidate = instead == null ? new NativeAgent() : instead;
        try {
            int abi = candidate.abi();
            if (abi == ABI) {
                return candidate;
            }
            // 0: the agent is not up yet.
            if (abi != 0) {
                candidate.refused(ABI);
            }
            return null;
        } catch (UnsatisfiedLinkError noAgent) {
            return null;
        }
    }
}
