package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.Bridge;

/** Who wants to know how long scopes are open: a recording, and one listener. */
public final class TimedScopes {
    private static final long NEVER = Long.MAX_VALUE;
    /** Of what the agent answers: no recording wants scopes. */
    private static final int OFF = -1;
    /** The recording does not tell of the scope. */
    private static final int NOT_KEPT = 0;
    /** The recording has the scope, and its values may be seen elsewhere. */
    private static final int SHOWN = 2;

    private static volatile ScopeListener listener;
    private static volatile ScopeMirror mirror;
    /** {@link #NEVER} if no recording wants scopes. */
    private static volatile long thresholdNanos = NEVER;
    /** Another one with each recording. */
    private static volatile int recording;

    private TimedScopes() {}

    /** The listener from now on; {@code null} for none. */
    public static synchronized void observe(ScopeListener next) {
        listener = next;
        ExtraWork.set(ExtraWork.OBSERVE, next != null);
    }

    /**
     * Asks the agent whether a recording wants scopes, and returns it. To be called before the
     * first scope.
     */
    public static synchronized boolean ask() {
        long threshold = Bridge.agent().scopeThreshold();
        thresholdNanos = threshold < 0 ? NEVER : threshold;
        recording++;
        ExtraWork.set(ExtraWork.RECORD, threshold >= 0);
        return threshold >= 0;
    }

    /** Who gets the scopes of a recording from now on, too; {@code null} for nobody. */
    public static void mirror(ScopeMirror next) {
        mirror = next;
    }

    /** The number of the recording that wants scopes now. */
    static int recording() {
        return recording;
    }

    /** Who observes all scopes; {@code null}: nobody. */
    static ScopeListener listener() {
        return listener;
    }

    /** What the mirror wants to be told at the end of a scope that sets these slots now. */
    static ScopeMirror.Opened mirrored(long block, int slots) {
        ScopeMirror present = mirror;
        return present == null || thresholdNanos == NEVER
                ? null
                : present.opened(BlockContents.withValue(block, slots));
    }

    /**
     * Gives a scope of a recording to the agent if it took long enough. {@code changed}: see {@link
     * Frames}. Returns the answer.
     */
    static int record(int since, long startNanos, long endNanos, int slots, int changed) {
        if (since != recording || endNanos - startNanos < thresholdNanos) {
            return NOT_KEPT;
        }
        int answer = Bridge.agent().scopeClosed(startNanos, endNanos, slots, changed);
        if (answer == OFF) {
            end(since);
        }
        return answer;
    }

    /** Whether the recording has a scope, by the answer. */
    static boolean isKept(int answer) {
        return answer > NOT_KEPT;
    }

    /** Whether other recordings may have it, too. */
    static boolean isShown(int answer) {
        return answer == SHOWN;
    }

    private static synchronized void end(int ended) {
        if (ended == recording) {
            thresholdNanos = NEVER;
            ExtraWork.set(ExtraWork.RECORD, false);
        }
    }
}
