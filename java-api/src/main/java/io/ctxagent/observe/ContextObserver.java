package io.ctxagent.observe;

import io.ctxagent.RecordingContext;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.observe.EntryBatch;
import io.ctxagent.internal.observe.EntryQueue;
import io.ctxagent.internal.observe.ObserverHub;
import io.ctxagent.internal.observe.Timeline;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Tells the application what happens in it: its own marks, calls and contexts, its requests and
 * connects, and collections of the garbage collector.
 *
 * <pre>{@code
 * ContextObserver observer = ContextObserver.create((entries, self) -> {
 *     for (Entry gc : entries) {
 *         log.info("{} took {}", gc.name(), gc.duration());
 *     }
 * });
 * observer.observe(EntryType.GC);
 * }</pre>
 *
 * <p>A type that nobody observes costs one look at a bit mask. Entries come in batches, about 20 ms
 * after they were made.
 *
 * <p>Threads: any. The callback runs on a daemon thread that no other observer has, without a
 * context; it may block, and call this class. One that throws is logged, and gets no more. Up to
 * 65,536 entries wait for an observer; what comes then is dropped and counted. When the VM ends,
 * entries that wait are not delivered. An observer is kept until it is disconnected.
 *
 * <p>Without the agent: {@link #supportedEntryTypes} has less, and entries have no context.
 *
 * @since 0.1
 */
public final class ContextObserver implements AutoCloseable {
    /** What an observer calls. */
    @FunctionalInterface
    public interface Callback {
        /**
         * Takes a batch of entries.
         *
         * @param entries the entries, at least one; not {@code null}
         * @param observer the observer, not {@code null}
         * @throws Exception if it cannot go on: it is logged, and the observer disconnected
         */
        void onEntries(EntryList entries, ContextObserver observer) throws Exception;
    }

    private final Callback callback;
    private final EntryQueue queue;

    private static final Set<EntryType> OF_AGENT =
            EnumSet.of(EntryType.CONTEXT, EntryType.HTTP, EntryType.NET, EntryType.DNS);
    /** Whether this VM has the module that tells of collections; a linked one may lack it. */
    private static final boolean HAS_COLLECTIONS =
            ModuleLayer.boot().findModule("jdk.management").isPresent();

    static {
        if (HAS_COLLECTIONS) {
            ObserverHub.setSource(EntryType.GC.ordinal(), new GcEntries());
        }
        ObserverHub.setSource(EntryType.CONTEXT.ordinal(), new ContextEntries());
        ObserverHub.setSource(EntryType.HTTP.ordinal(), new HttpEntries());
        ObserverHub.setSource(EntryType.NET.ordinal(), new NetworkEntries(EntryType.NET));
        ObserverHub.setSource(EntryType.DNS.ordinal(), new NetworkEntries(EntryType.DNS));
    }

    private ContextObserver(Callback callback) {
        this.callback = callback;
        queue = new EntryQueue(callback == null ? null : this::deliver);
    }

    /**
     * Makes an observer, which observes nothing yet.
     *
     * @param callback what gets the entries, not {@code null}
     * @return the observer, not {@code null}
     */
    public static ContextObserver create(Callback callback) {
        return new ContextObserver(Objects.requireNonNull(callback, "the callback is null"));
    }

    /**
     * Makes an observer whose entries wait for {@link #takeRecords}. It observes nothing yet.
     *
     * @return the observer, not {@code null}
     */
    public static ContextObserver create() {
        return new ContextObserver(null);
    }

    /**
     * What can be observed in this VM now; an agent that is loaded later adds to it.
     *
     * @return the types in the order of their names, not {@code null}, not to be changed
     */
    public static Set<EntryType> supportedEntryTypes() {
        Set<EntryType> all = EnumSet.allOf(EntryType.class);
        if (!HAS_COLLECTIONS) {
            all.remove(EntryType.GC);
        }
        if (Bridge.agent() == null) {
            all.removeAll(OF_AGENT);
        }
        return Collections.unmodifiableSet(all);
    }

    /**
     * Observes these types from now on, and no other ones. Types that this VM does not support are
     * left out, and logged.
     *
     * @param wanted the types, at least one of them supported; neither they nor the array being
     *     {@code null}
     * @throws IllegalArgumentException if none is supported: the message says which are
     * @throws IllegalStateException if 64 observers are connected
     */
    public void observe(EntryType... wanted) {
        Set<EntryType> set = EnumSet.noneOf(EntryType.class);
        set.addAll(Arrays.asList(wanted));
        ObserverHub.connect(queue, bits(supported(set)), false, List.of());
    }

    /**
     * Observes one more type.
     *
     * @param type the type, supported and not {@code null}
     * @param buffered whether to get first what is kept of it: of marks and measures; of other
     *     types nothing is
     * @throws IllegalArgumentException if it is not supported
     * @throws IllegalStateException if 64 observers are connected
     */
    public void observe(EntryType type, boolean buffered) {
        int bit = bits(supported(EnumSet.of(type)));
        Timeline kept = buffered ? Marks.kept(type) : null;
        ObserverHub.connect(queue, bit, true, kept == null ? List.of() : kept.all());
    }

    /** Those of these types that this VM supports, at least one. */
    private Set<EntryType> supported(Set<EntryType> wanted) {
        // Prepares contexts; by this the agent finds this copy of the API if it comes later.
        RecordingContext.describe();
        Set<EntryType> known = EnumSet.copyOf(wanted);
        Set<EntryType> supported = supportedEntryTypes();
        boolean isCut = known.retainAll(supported);
        if (known.isEmpty()) {
            throw new IllegalArgumentException(
                    "none of " + wanted + " can be observed in this VM, only " + supported);
        }
        if (isCut) {
            log("of " + wanted + " this VM supports only " + known, null);
        }
        return known;
    }

    private static int bits(Set<EntryType> types) {
        int bits = 0;
        for (EntryType type : types) {
            bits |= 1 << type.ordinal();
        }
        return bits;
    }

    /**
     * Takes the entries that wait; the callback will not get them.
     *
     * @return the entries by the time at which they began, not {@code null}, not to be changed
     */
    public List<Entry> takeRecords() {
        return EntryList.sorted(ObserverHub.take(queue));
    }

    /**
     * Observes nothing from now on; what waits is dropped. A call of the callback that has begun
     * goes on. Again: does nothing. {@link #observe} connects it again.
     */
    public void disconnect() {
        ObserverHub.connect(queue, 0, false, List.of());
    }

    /** As {@link #disconnect}. */
    @Override
    public void close() {
        disconnect();
    }

    private void deliver(EntryBatch entries, long dropped) {
        ClassLoader loader = callback.getClass().getClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            callback.onEntries(new EntryList(entries, dropped), this);
        } catch (Throwable failure) {
            disconnect();
            log("disconnected, as its callback failed", failure);
        } finally {
            Thread.currentThread().setContextClassLoader(null);
        }
    }

    private void log(String what, Throwable failure) {
        System.getLogger("io.ctxagent")
                .log(
                        System.Logger.Level.WARNING,
                        "observer" + (callback == null ? "" : " " + callback) + ": " + what,
                        failure);
    }
}
