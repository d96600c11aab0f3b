package io.ctxagent.observe;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.observe.AgentSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * The pauses of the garbage collector as the agent measures them, to the microsecond, until the VM
 * tells which collection they belong to, in milliseconds.
 */
final class GcPauses extends AgentSource {
    /** Pauses that wait at most; of collections that the VM does not tell of, the oldest go. */
    private static final int CAPACITY = 256;
    /** The VM's times are cut to milliseconds, each on another clock. */
    private static final long TOLERANCE_NANOS = 3_000_000;

    private final Deque<long[]> waiting = new ArrayDeque<>();

    @Override
    protected synchronized boolean tell(Agent agent, boolean on) {
        waiting.clear();
        agent.observePauses(on);
        return true;
    }

    /**
     * Takes the first and the last moment of the pauses within a collection, and their length in
     * all; {@code null} if the agent saw none.
     */
    synchronized long[] take(long begin, long end) {
        fetch();
        long[] within = takeWithin(begin, end);
        return within != null ? within : takeOverlapping(begin, end);
    }

    private long[] takeWithin(long begin, long end) {
        long[] all = null;
        for (Iterator<long[]> each = waiting.iterator(); each.hasNext(); ) {
            long[] pause = each.next();
            boolean isWithin =
                    pause[0] - begin > -TOLERANCE_NANOS && pause[1] - end < TOLERANCE_NANOS;
            if (isWithin) {
                each.remove();
                long length = pause[1] - pause[0];
                all = all == null
                        ? new long[] {pause[0], pause[1], length}
                        : new long[] {all[0], pause[1], all[2] + length};
            }
        }
        return all;
    }

    /**
     * The VM reads its clock after the pause has begun and before it ends. A thread that loses its
     * CPU in between makes the pause so much longer than the collection.
     */
    private long[] takeOverlapping(long begin, long end) {
        long[] longest = null;
        long most = 0;
        for (long[] pause : waiting) {
            long overlap = Math.min(pause[1], end) - Math.max(pause[0], begin);
            if (overlap >= most) {
                most = overlap;
                longest = pause;
            }
        }
        if (longest == null) {
            return null;
        }
        waiting.remove(longest);
        return new long[] {longest[0], longest[1], longest[1] - longest[0]};
    }

    private void fetch() {
        Agent agent = Bridge.agent();
        long[] times = agent == null ? null : agent.takePauses();
        if (times != null) {
            add(times);
        }
    }

    /** Begin and end of each pause, in turn; to be called under the lock. */
    void add(long... times) {
        for (int i = 0; i + 1 < times.length; i += 2) {
            if (waiting.size() >= CAPACITY) {
                waiting.removeFirst();
            }
            waiting.addLast(new long[] {times[i], times[i + 1]});
        }
    }
}
