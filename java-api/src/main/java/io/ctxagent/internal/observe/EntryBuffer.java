package io.ctxagent.internal.observe;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Entries on their way from their producers to the collector. Nobody waits: a producer that meets
 * another one, or a full stripe, takes the next stripe, and after the last one drops its entry.
 */
final class EntryBuffer {
    private static final int STRIPES = 16;
    /** Entries of a stripe: all of them hold those of 20 ms at three million a second. */
    private static final int CAPACITY = 4_096;

    private final Stripe[] stripes = new Stripe[STRIPES];

    EntryBuffer() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** Adds an entry. Returns {@code false} if there is no room. */
    boolean add(ObservedEntry entry) {
        int first = System.identityHashCode(Thread.currentThread());
        for (int i = 0; i < STRIPES; i++) {
            if (stripes[(first + i) % STRIPES].tryAdd(entry)) {
                return true;
            }
        }
        return false;
    }

    /** Takes all entries, in any order. By one thread at a time. */
    void drainTo(Consumer<ObservedEntry> sink) {
        for (Stripe stripe : stripes) {
            stripe.drainTo(sink);
        }
    }

    /** Free, or held by one thread for some nanoseconds. */
    private static final class Stripe extends AtomicBoolean {
        private static final long serialVersionUID = 1;

        private transient ObservedEntry[] entries;
        private transient ObservedEntry[] drained;
        private transient int size;

        boolean tryAdd(ObservedEntry entry) {
            if (!compareAndSet(false, true)) {
                return false;
            }
            boolean hasRoom = size < CAPACITY;
            if (hasRoom) {
                if (entries == null) {
                    entries = new ObservedEntry[CAPACITY];
                }
                entries[size++] = entry;
            }
            set(false);
            return hasRoom;
        }

        void drainTo(Consumer<ObservedEntry> sink) {
            while (!compareAndSet(false, true)) {
                // Its holder may have lost its CPU.
                Thread.yield();
            }
            ObservedEntry[] full = entries;
            int count = size;
            entries = drained;
            size = 0;
            set(false);
            for (int i = 0; i < count; i++) {
                sink.accept(full[i]);
                full[i] = null;
            }
            drained = full;
        }
    }
}
