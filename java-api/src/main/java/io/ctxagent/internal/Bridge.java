package io.ctxagent.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whether the agent is there, and the way to it. Asked for at the first use of the API, and once more when the agent is loaded into the running VM.
 *
 * <p>No static initialiser here, nor in any class that is needed before {@code io.ctxagent.Contexts} is ready: one that fails, for want of memory or stack,
 * fails for the life of the VM.
 */
public final class Bridge {
    /** Not known yet whether contexts are on; or it is known that the agent is there, and the classes of the hot path are not prepared. */
    public static final int UNKNOWN = 0;
    /** Contexts are off: no agent, or one that this API cannot work with. */
    public static final int OFF = 1;
    /** Contexts are on. */
    public static final int READY = 2;

    private static final int ABI = 1;

    private static Agent instead;
    private static volatile int state;
    private static volatile Agent agent;
    private static Layout layout;
    private static ByteBuffer slab;

    private Bridge() {
    }

    /** One of the constants above: the hot path asks this first. */
    public static int state() {
        return state;
    }

    /** The classes of the hot path are prepared. */
    public static void setReady() {
        state = READY;
    }

    /** Contexts stay off. */
    public static void setOff() {
        state = OFF;
    }

    /** The agent, or {@code null} if none is loaded. */
    public static Agent agent() {
        if (agent == null && state == UNKNOWN) {
            connect();
        }
        return agent;
    }

    /** Whether the agent is there, and a slab that this API can work with. */
    public static boolean isConnected() {
        return agent() != null && layout != null;
    }

    /** The layout of the slab; not {@code null} if {@link #isConnected()}. */
    public static Layout layout() {
        return layout;
    }

    /** The slab in native byte order; not {@code null} if {@link #isConnected()}. */
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
        reconnect();
    }

    /** Called by the agent before it starts a recording, so that context types have their columns from the first chunk on. */
    public static void beforeRecording() {
        reconnect();
        Registrations.run();
    }

    /** For tests: use {@code fake} where no agent is loaded. */
    static void connectInstead(Agent fake) {
        instead = fake;
        reconnect();
    }

    private static synchronized void reconnect() {
        if (agent == null) {
            state = UNKNOWN;
            connect();
        }
    }

    /** Throws, and leaves all as it was, where there is no memory or stack for it now. */
    private static synchronized void connect() {
        if (agent != null) {
            return;
        }
        Agent found = find();
        if (found == null) {
            state = OFF;
            return;
        }
        ByteBuffer memory = found.slab();
        long[] numbers = found.layout();
        if (memory == null || numbers == null) {
            // The natives found no memory to answer with. What is asked next tries again.
            return;
        }
        if (memory.isDirect() && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            // A duplicate, so that nobody else can change position, limit or byte order.
            ByteBuffer whole = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            layout = Layout.of(numbers, whole.capacity());
            slab = whole;
        }
        agent = found;
        if (layout == null) {
            state = OFF;
        }
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
