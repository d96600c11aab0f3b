package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;

/** Who wants to know how long scopes are open: a recording, and one listener. */
public final class TimedScopes {
    /** Of what the agent answers: no recording wants scopes. */
    private static final int OFF = -1;
    /** The recording has the scope. */
    private static final int KEPT = 1;

    private static volatile ScopeListener listener;
    private static volatile long thresholdNanos;
    /** Another one with each recording. */
    private static volatile int recording;

    private TimedScopes() {}

    /** The listener from now on; {@code null} for none. */
    public static synchronized void observe(ScopeListener next) {
        listener = next;
        ExtraWork.set(ExtraWork.OBSERVE, next != null);
    }

    /** Asks the agent whether a recording wants scopes. To be called before the first scope. */
    public static synchronized void ask() {
        long threshold = Bridge.agent().scopeThreshold();
        thresholdNanos = threshold;
        recording++;
        ExtraWork.set(ExtraWork.RECORD, threshold >= 0);
    }

    /** The number of the recording that wants scopes now. */
    static int recording() {
        return recording;
    }

    static Object begin(long startNanos) {
        ScopeListener all = listener;
        return all == null ? null : all.opened(startNanos);
    }

    static void tell(
            long block, int slots, int samples, long startNanos, long endNanos, Object opened) {
        ScopeListener all = listener;
        if (all != null) {
            all.closed(block, slots, samples, startNanos, endNanos, opened);
        }
    }

    /**
     * Gives a scope of a recording to the agent if it took long enough. {@code changed}: see {@link
     * Frames}. Returns whether the recording has it.
     */
    static boolean record(int since, long startNanos, long endNanos, int slots, int changed) {
        if (since != recording || endNanos - startNanos < thresholdNanos) {
            return false;
        }
        int answer = Bridge.agent().scopeClosed(startNanos, endNanos, slots, changed);
        if (answer == OFF) {
            end(since);
        }
        return answer == KEPT;
    }

    private static synchronized void end(int ended) {
        if (ended == recording) {
            ExtraWork.set(ExtraWork.RECORD, false);
        }
    }
}
