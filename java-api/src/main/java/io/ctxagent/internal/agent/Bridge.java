package io.ctxagent.internal.agent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The connection to the agent: whether it is there, its layout and its slab. Made at the first use
 * of the API, and once more when the agent is loaded into the running VM.
 *
 * <p>No static initialiser here, nor in any class that is needed before contexts are ready: one
 * that fails, for want of memory or stack, fails for the life of the VM.
 */
public final class Bridge {
    /** Not known yet whether contexts are on, or the classes of the hot path are not prepared. */
    public static final int UNKNOWN = 0;
    /** Contexts are off: no agent, or one that this API cannot work with. */
    public static final int OFF = 1;
    /** Contexts are on. */
    public static final int READY = 2;

    /** Version of the contract with the agent. */
    static final int ABI = 9;

    /** For tests. */
    private static Agent substitute;

    private static volatile int state;
    private static volatile Agent agent;
    private static Layout layout;
    private static ByteBuffer slab;

    private Bridge() {}

    /** One of the constants above; the hot path asks this first. */
    public static int state() {
        return state;
    }

    /** Declares the classes of the hot path prepared. */
    public static void setReady() {
        state = READY;
    }

    /** Declares contexts off for good, and tells the agent why. */
    public static void fail(String why) {
        state = OFF;
        Agent a = agent;
        if (a != null) {
            a.failed(why);
        }
    }

    /** The agent, or {@code null} if none is loaded. */
    public static Agent agent() {
        if (agent == null && state == UNKNOWN) {
            connect();
        }
        return agent;
    }

    /** Whether the agent is there, with a slab that this API can work with. */
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

    /** For tests: connects to {@code other} where no agent is loaded. */
    static void connectTo(Agent other) {
        substitute = other;
        reconnect();
    }

    /** Looks for the agent again, which may have been loaded since. */
    public static void reconnect() {
        if (agent == null) {
            state = UNKNOWN;
            connect();
        }
    }

    /** Throws and changes nothing where memory or stack does not suffice now. */
    private static void connect() {
        Agent found = find();
        if (found == null) {
            publish(null, null, null);
            return;
        }
        ByteBuffer memory = found.slab();
        long[] numbers = found.layout();
        if (memory == null || numbers == null) {
            // The natives found no memory for their answer; the next call asks again.
            return;
        }
        ByteBuffer whole = null;
        Layout read = null;
        if (memory.isDirect() && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            // A duplicate, so that nobody else can change position, limit or byte order.
            whole = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            read = Layout.of(numbers, whole.capacity());
        }
        publish(found, read, whole);
    }

    /** By the first thread that found it: an agent that is there stays. */
    private static synchronized void publish(Agent found, Layout read, ByteBuffer memory) {
        if (agent == null) {
            layout = read;
            slab = read == null ? null : memory;
            agent = found;
            state = found == null || read == null ? OFF : UNKNOWN;
        }
    }

    private static Agent find() {
        Agent candidate = substitute == null ? new Native() : substitute;
        try {
            int abi = candidate.abi();
            if (abi == ABI) {
                return candidate;
            }
            if (abi != 0) {
                candidate.refused(ABI);
            }
            return null;
        } catch (UnsatisfiedLinkError noAgent) {
            return null;
        }
    }
}
