package io.ctxagent.observe;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Memory;

/**
 * What the current thread has allocated, where the agent is there: a call into the VM costs as
 * much as a scope, so the counters are read where the VM has them, if that gives the same.
 */
final class AllocatedBytes {
    private static final int TRIES = 3;

    private enum Source {
        NOT_TRIED,
        MEMORY,
        VM
    }

    private static Source source = Source.NOT_TRIED;

    private AllocatedBytes() {}

    /** -1: not known, as for a virtual thread. */
    static long now() {
        if (source == Source.MEMORY) {
            long bytes = Memory.allocatedBytes();
            if (bytes >= 0) {
                return bytes;
            }
        }
        long bytes = ThreadCounters.allocatedBytes();
        // Before contexts are on, that memory must not be touched.
        if (source == Source.NOT_TRIED && bytes >= 0 && Bridge.state() == Bridge.READY) {
            source = isMemoryRight() ? Source.MEMORY : Source.VM;
        }
        return bytes;
    }

    /** Whether what the VM says lies between two readings: the same if nothing is allocated. */
    private static boolean isMemoryRight() {
        for (int i = 0; i < TRIES; i++) {
            long before = Memory.allocatedBytes();
            long told = ThreadCounters.allocatedBytes();
            long after = Memory.allocatedBytes();
            if (before < 0 || told < before || after < told) {
                return false;
            }
        }
        return true;
    }
}
