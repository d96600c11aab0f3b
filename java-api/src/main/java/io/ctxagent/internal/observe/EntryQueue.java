package io.ctxagent.internal.observe;

/** The entries that wait for one observer. */
public final class EntryQueue {
    /** Entries that wait at most. */
    public static final int CAPACITY = 65_536;

    /** What gets the entries; runs on a thread of its own. */
    public interface Receiver {
        /** Never empty; {@code dropped}: entries since the last call that are not among them. */
        void accept(EntryBatch entries, long dropped);
    }

    private final Receiver receiver;
    private EntryBatch pending = new EntryBatch();
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

    boolean wants(int type) {
        return (types >>> type & 1) != 0;
    }

    /** The types from now on. Of those that are not among them no entry is left. */
    synchronized void setTypes(int wanted) {
        types = wanted;
        pending.retain(wanted);
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

    synchronized void offer(ScopeSlice scopes) {
        int room = CAPACITY - pending.size();
        int all = scopes.size();
        if (all <= room) {
            pending.add(scopes);
        } else {
            pending.add(scopes.first(room));
            dropped += all - room;
        }
    }

    synchronized void addDropped(long entries) {
        dropped += entries;
    }

    /** Takes what waits. */
    public synchronized EntryBatch take() {
        EntryBatch taken = pending;
        pending = new EntryBatch();
        return taken;
    }

    /** Whether a delivery is due, which the caller then has to run. */
    synchronized boolean beginDelivery() {
        boolean begins = receiver != null && !isDelivering && pending.size() != 0;
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
            EntryBatch batch;
            long missing;
            synchronized (this) {
                if (pending.size() == 0) {
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
