package io.ctxagent.internal.observe;

import io.ctxagent.internal.agent.Exclusive;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Who observes what, and the way of an entry: a producer looks at one mask, and if somebody wants
 * the type, adds an entry to a buffer; a thread of ours takes it from there to the queue of each
 * observer; the callback of an observer runs on a thread that no other one has.
 *
 * <p>Those threads are of executors: what {@code propagate} gives to tasks and threads does not
 * reach periodic tasks and workers, so that no context of an application does.
 */
public final class ObserverHub {
    /** Observers that are connected at a time. */
    public static final int MAX_OBSERVERS = 64;

    private static final int TYPES = Integer.SIZE;
    /** How long an entry waits for the collector at most, but for its own time. */
    private static final long PERIOD_MILLIS = 20;

    private static final long IDLE_MILLIS = 1_000;

    /** A bit for each type that somebody observes. */
    private static volatile int mask;
    /** A bit for each type whose source is on. */
    private static volatile int on;

    private static final List<EntryQueue> connected = new ArrayList<>();
    private static final EntrySource[] sources = new EntrySource[TYPES];
    /** Turns the sources, which call into the VM and classes that are not loaded yet. */
    private static final Exclusive turning = new Exclusive();

    private static Future<?> collecting;
    /** Made for the first observer. */
    private static volatile Buffers buffers;

    private ObserverHub() {}

    /** The entries on their way, and the threads that move them. */
    private static final class Buffers {
        final EntryBuffer entries = new EntryBuffer();
        final ScopeBuffer scopes = new ScopeBuffer();
        final AtomicLongArray dropped = new AtomicLongArray(TYPES);
        final ScheduledThreadPoolExecutor collector = collector();
        final ThreadPoolExecutor deliveries = new ThreadPoolExecutor(
                0,
                MAX_OBSERVERS,
                IDLE_MILLIS,
                TimeUnit.MILLISECONDS,
                new SynchronousQueue<>(),
                daemons("ctxagent observer"));

        private static ScheduledThreadPoolExecutor collector() {
            ScheduledThreadPoolExecutor one =
                    new ScheduledThreadPoolExecutor(1, daemons("ctxagent entries"));
            one.setKeepAliveTime(IDLE_MILLIS, TimeUnit.MILLISECONDS);
            one.allowCoreThreadTimeOut(true);
            one.setRemoveOnCancelPolicy(true);
            return one;
        }

        private static ThreadFactory daemons(String name) {
            return task -> {
                Thread thread = new ObserverThread(task, name);
                thread.setDaemon(true);
                thread.setContextClassLoader(null);
                return thread;
            };
        }
    }

    /** One that collects entries, or runs callbacks. */
    private static final class ObserverThread extends Thread {
        ObserverThread(Runnable task, String name) {
            super(task, name);
        }
    }

    /**
     * Whether the current thread runs callbacks: what they do is not observed, or an entry would
     * make the next one.
     */
    public static boolean isOwnThread() {
        return Thread.currentThread() instanceof ObserverThread;
    }

    /** Sets what produces the entries of a type while somebody observes it. */
    public static synchronized void setSource(int type, EntrySource source) {
        sources[type] = source;
    }

    /** Whether anybody observes a type: what a producer asks first. */
    public static boolean isObserved(int type) {
        return (mask >>> type & 1) != 0;
    }

    /** Hands over an entry. Never waits. */
    public static void publish(ObservedEntry entry) {
        Buffers to = buffers;
        if (to != null && !to.entries.add(entry)) {
            drop(entry.type);
        }
    }

    /** Counts an entry that could not be handed over. */
    public static void drop(int type) {
        Buffers of = buffers;
        if (of != null) {
            of.dropped.getAndIncrement(type);
        }
    }

    /**
     * As {@link #publish}, of a scope that the current thread closes: a block whose values are
     * still there, the slots that it set, and what is known of it, see {@link ObservedScope}.
     * {@code thread}: the key of the thread.
     */
    public static void publishScope(
            int type,
            long thread,
            long block,
            int slots,
            int samples,
            long startNanos,
            long durationNanos,
            long allocatedBytes,
            long cpuNanos) {
        Buffers to = buffers;
        if (to != null
                && !to.scopes.add(
                        type,
                        thread,
                        block,
                        slots,
                        samples,
                        startNanos,
                        durationNanos,
                        allocatedBytes,
                        cpuNanos)) {
            drop(type);
        }
    }

    /**
     * Gives an observer entries of these types from now on, a bit for each; after those in {@code
     * buffered}. 0: of none. {@code more}: and of those that it has.
     *
     * @throws IllegalStateException if there are too many observers
     */
    public static void connect(
            EntryQueue queue, int types, boolean more, List<ObservedEntry> buffered) {
        if (buffers == null) {
            publishBuffers(new Buffers());
        }
        register(queue, types, more, buffered);
        turnSources();
    }

    private static synchronized void publishBuffers(Buffers made) {
        if (buffers == null) {
            buffers = made;
        }
    }

    private static synchronized void register(
            EntryQueue queue, int wanted, boolean more, List<ObservedEntry> buffered) {
        int types = more ? wanted | queue.types() : wanted;
        boolean isNew = types != 0 && !connected.contains(queue);
        if (isNew && connected.size() >= MAX_OBSERVERS) {
            throw new IllegalStateException(
                    MAX_OBSERVERS + " observers are connected, and no more can be; disconnect one");
        }
        // What was before is not for this one.
        collect();
        queue.setTypes(types);
        if (isNew) {
            connected.add(queue);
        } else if (types == 0) {
            connected.remove(queue);
        }
        buffered.forEach(queue::offer);
        int now = 0;
        for (EntryQueue each : connected) {
            now |= each.types();
        }
        mask = now;
    }

    /** The entries that wait for an observer, those just published among them. */
    public static EntryBatch take(EntryQueue queue) {
        synchronized (ObserverHub.class) {
            collect();
        }
        return queue.take();
    }

    /** Has those sources on whose type is observed, and the collector if any is. */
    private static void turnSources() {
        while (mask != on && turning.enter()) {
            try {
                turnAll(mask);
            } finally {
                turning.leave();
            }
        }
    }

    private static void turnAll(int wanted) {
        for (int type = 0; type < TYPES; type++) {
            int bit = 1 << type;
            if (((on ^ wanted) & bit) != 0) {
                if (sources[type] != null) {
                    sources[type].turn((wanted & bit) != 0);
                }
                on ^= bit;
            }
        }
        if (wanted != 0 && collecting == null) {
            collecting = buffers.collector.scheduleWithFixedDelay(
                    ObserverHub::collectAndDeliver,
                    PERIOD_MILLIS,
                    PERIOD_MILLIS,
                    TimeUnit.MILLISECONDS);
        } else if (wanted == 0 && collecting != null) {
            collecting.cancel(false);
            collecting = null;
        }
    }

    /** Has the sources look for what may have come since they were turned on, as the agent may. */
    public static void poll() {
        if (on != 0 && turning.enter()) {
            try {
                for (EntrySource source : sources) {
                    if (source != null) {
                        source.poll();
                    }
                }
            } finally {
                turning.leave();
            }
        }
    }

    private static void collectAndDeliver() {
        try {
            poll();
            for (EntryQueue queue : collected()) {
                if (queue.beginDelivery()) {
                    deliver(queue);
                }
            }
        } catch (VirtualMachineError | RejectedExecutionException notNow) {
            // No memory, or callbacks that block have all threads: the next round tries again.
        }
    }

    /** Collects, and returns who is connected. */
    private static synchronized List<EntryQueue> collected() {
        collect();
        return List.copyOf(connected);
    }

    private static void deliver(EntryQueue queue) {
        boolean begun = false;
        try {
            buffers.deliveries.execute(queue::deliver);
            begun = true;
        } finally {
            if (!begun) {
                queue.cancelDelivery();
            }
        }
    }

    private static void collect() {
        Buffers from = buffers;
        if (from == null) {
            return;
        }
        from.entries.drainTo(ObserverHub::distribute);
        from.scopes.drainTo(ObserverHub::distribute);
        for (int type = 0; type < TYPES; type++) {
            long dropped = from.dropped.get(type);
            if (dropped != 0) {
                from.dropped.addAndGet(type, -dropped);
                for (EntryQueue queue : connected) {
                    if (queue.wants(type)) {
                        queue.addDropped(dropped);
                    }
                }
            }
        }
    }

    private static void distribute(ObservedEntry entry) {
        for (EntryQueue queue : connected) {
            if (queue.wants(entry.type)) {
                queue.offer(entry);
            }
        }
    }

    private static void distribute(ScopeSlice scopes) {
        for (EntryQueue queue : connected) {
            if (queue.wants(scopes.type())) {
                queue.offer(scopes);
            }
        }
    }
}
