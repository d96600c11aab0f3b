package io.ctxagent.internal.observe;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Scopes on their way from one thread that adds them, at a time, to one that takes them. */
final class ScopeStripe {
    private static final long NOBODY = 0;

    /** The records that stripes have filled and nobody took yet. */
    private final AtomicInteger waiting;

    private final int maxWaiting;

    /** The key of the only thread that adds, see {@link #claim}. */
    private volatile long owner = NOBODY;

    private WeakReference<Thread> thread;

    /** Of the thread that adds. */
    private ScopeRecords filling;
    /** Of who takes; {@code null} if there was no scope yet. */
    private volatile ScopeRecords taking;
    /** How many of {@link #taking} are taken. */
    private int taken;

    /** {@code waiting}: of all stripes together, with so many at most. */
    ScopeStripe(AtomicInteger waiting, int maxWaiting) {
        this.waiting = waiting;
        this.maxWaiting = maxWaiting;
    }

    boolean isOf(long key) {
        return owner == key;
    }

    boolean isFree() {
        return owner == NOBODY;
    }

    /** Makes the stripe that of the current thread as long as it lives, if it has none. */
    synchronized boolean claim(long key) {
        if (owner == NOBODY) {
            thread = new WeakReference<>(Thread.currentThread());
            owner = key;
        }
        return owner == key;
    }

    /** Where to add a scope; {@code null} if there is no room. */
    ScopeRecords room(int type) {
        ScopeRecords present = filling;
        return present != null && !present.isFull() && present.type == type ? present : next(type);
    }

    private ScopeRecords next(int type) {
        if (waiting.get() >= maxWaiting) {
            return null;
        }
        ScopeRecords next = new ScopeRecords(type);
        if (filling == null) {
            taking = next;
        } else {
            waiting.getAndIncrement();
            filling.next = next;
        }
        filling = next;
        return next;
    }

    /** Takes all scopes. By one thread at a time. */
    void drainTo(Consumer<ScopeSlice> sink) {
        if (taking != null) {
            boolean ended = hasEnded();
            take(sink);
            if (ended) {
                free();
            }
        }
    }

    private void take(Consumer<ScopeSlice> sink) {
        ScopeRecords records = taking;
        while (true) {
            // First: after that none is added to these.
            ScopeRecords next = records.next;
            int added = records.added();
            if (added > taken) {
                ScopeSlice slice = new ScopeSlice(records, taken, added);
                taken = added;
                sink.accept(slice);
            }
            if (next == null) {
                return;
            }
            records = next;
            taking = next;
            taken = 0;
            waiting.getAndDecrement();
        }
    }

    private synchronized boolean hasEnded() {
        Thread adding = owner == NOBODY ? Thread.currentThread() : thread.get();
        return adding == null || !adding.isAlive();
    }

    private synchronized void free() {
        filling = null;
        taking = null;
        taken = 0;
        thread = null;
        owner = NOBODY;
    }
}
