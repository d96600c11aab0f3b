package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.CurrentThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Consumer;

/**
 * Closed scopes on their way to the collector. Most threads have a stripe of their own, so that
 * they need no atomic instruction, which would wait for all that was stored before. Virtual
 * threads, and those that find theirs taken, share some. Nobody waits: who meets another thread
 * takes the next stripe, and after the last one, or if too many scopes wait, drops the scope.
 */
final class ScopeBuffer {
    /** Scopes that wait for the collector: those of 20 ms at three million a second. */
    private static final int CAPACITY = 65_536;

    private static final int OWNED = 256;
    private static final int SHARED = 16;
    private static final int FREE = 0;
    private static final int HELD = 1;

    private final ScopeStripe[] owned = new ScopeStripe[OWNED];
    private final ScopeStripe[] shared = new ScopeStripe[SHARED];
    /** Who adds to a shared stripe has to hold it. */
    private final AtomicIntegerArray locks = new AtomicIntegerArray(SHARED);

    ScopeBuffer() {
        AtomicInteger waiting = new AtomicInteger();
        int maxWaiting = CAPACITY / ScopeRecords.CAPACITY;
        for (int i = 0; i < OWNED; i++) {
            owned[i] = new ScopeStripe(waiting, maxWaiting);
        }
        for (int i = 0; i < SHARED; i++) {
            shared[i] = new ScopeStripe(waiting, maxWaiting);
        }
    }

    /** As {@link ObserverHub#publishScope}. Returns {@code false} if there is no room. */
    boolean add(
            int type,
            long thread,
            long block,
            int slots,
            int samples,
            long startNanos,
            long durationNanos,
            long allocatedBytes,
            long cpuNanos) {
        ScopeStripe own = own(thread);
        int lock = own == null ? lock() : -1;
        if (own == null && lock < 0) {
            return false;
        }
        try {
            ScopeRecords records = (own == null ? shared[lock] : own).room(type);
            if (records != null) {
                records.add(
                        block, slots, samples, startNanos, durationNanos, allocatedBytes, cpuNanos);
            }
            return records != null;
        } finally {
            if (lock >= 0) {
                locks.setRelease(lock, FREE);
            }
        }
    }

    /** The stripe that only the current thread adds to, {@code null} if it has none. */
    private ScopeStripe own(long thread) {
        ScopeStripe stripe = owned[(int) thread & OWNED - 1];
        return stripe.isOf(thread)
                        || stripe.isFree() && !CurrentThread.isVirtual() && stripe.claim(thread)
                ? stripe
                : null;
    }

    /** Takes the lock of a shared stripe. Returns its number, or -1. */
    private int lock() {
        int first = System.identityHashCode(Thread.currentThread());
        for (int i = 0; i < SHARED; i++) {
            int stripe = first + i & SHARED - 1;
            if (locks.compareAndSet(stripe, FREE, HELD)) {
                return stripe;
            }
        }
        return -1;
    }

    /** Takes all scopes. By one thread at a time. */
    void drainTo(Consumer<ScopeSlice> sink) {
        for (ScopeStripe stripe : owned) {
            stripe.drainTo(sink);
        }
        for (ScopeStripe stripe : shared) {
            stripe.drainTo(sink);
        }
    }
}
