package io.ctxagent.internal.observe;

import java.util.ArrayList;
import java.util.List;

/** The entries that wait for one observer. */
public final class EntryQueue {
    /** Entries that wait at most. */
    public static final int CAPACITY = 65_536;

    /** What gets the entries; runs on a thread of its own. */
    public interface Receiver {
        /** Never empty; {@code dropped}: entries since the last call that are not among them. */
        void accept(List<ObservedEntry> entries, long dropped);
    }

    private final Receiver receiver;
    private List<ObservedEntry> pending = new ArrayList<>();
    private long dropped;
    private boolean isDelivering;
    /** Bits of the types that this observer wants, 0 = none; changed under the lock of the hub. */
    private volatile int types;

    /** {@code receiver}: {@code null} if the entries are only taken. */
    public EntryQueue(Receiver receiver) {
        this.receiver = receiver;
    }

    int types() {
        return types;
    }

    /** The types from now on. Of those that are not among them no entry is left. */
    synchronized void setTypes(int wanted) {
        types = wanted;
        pending.removeIf(entry -> (wanted >>> entry.type & 1) == 0);
        if (wanted == 0) {
            dropped = 0;
        }
    }

    synchronized void offer(ObservedEntry entry) {
        if (pending.size() >= CAPACITY) {
            dropped++;
        } else {
            pending.add(entry);
        }
    }

    synchronized void addDropped(long entries) {
        dropped += entries;
    }

    /** Takes what waits. */
    public synchronized List<ObservedEntry> take() {
        List<ObservedEntry> taken = pending;
        pending = new ArrayList<>();
        return taken;
    }

    /** Whether a delivery is due, which the caller then has to run. */
    synchronized boolean beginDelivery() {
        boolean begins = receiver != null && !isDelivering && !pending.isEmpty();
        isDelivering |= begins;
        return begins;
    }

    /** The delivery that {@link #beginDelivery} announced was not possible. */
    synchronized void cancelDelivery() {
        isDelivering = false;
    }

    /** Hands over what waits, until nothing does. */
    void deliver() {
        while (true) {
            List<ObservedEntry> batch;
            long missing;
            synchronized (this) {
                if (pending.isEmpty()) {
                    isDelivering = false;
                    return;
                }
                batch = take();
                missing = dropped;
                dropped = 0;
            }
            receiver.accept(batch, missing);
        }
    }
}
