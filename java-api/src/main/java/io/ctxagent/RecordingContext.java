package io.ctxagent;

import io.ctxagent.internal.Bridge;
import io.ctxagent.internal.Misuse;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * A context installed on the current thread: up to eight attributes, each a name and a value, that samples taken in this thread
 * carry while it is open.
 *
 * <pre>{@code
 * try (var c = RecordingContext.where("endpoint", "/checkout").where("tenant", tenant).build()) {
 *     handle(request);
 * }
 * }</pre>
 *
 * <p>A context lies on top of the one that was installed before: attributes that it does not name stay as they
 * are, a {@code null} value removes one. {@link #close} puts back what was there.
 *
 * <p><b>Threads.</b> A context belongs to the logical thread that built it, platform or virtual, and stays with a virtual thread when that
 * is unmounted. Other threads do not inherit it; {@link #snapshot} and {@link #wrap(Runnable)} carry it over.
 *
 * <p><b>Cost.</b> No lock, no system call, and no allocation where the scope does not escape; a few nanoseconds. A value
 * that was not seen before costs about a microsecond, once.
 *
 * <p><b>Misuse</b> never throws into the application. Scopes closed twice, out of order, or by another thread are repaired and
 * counted in the recording; an outer scope that is closed first ends the inner ones. Values are cut to 255 bytes of UTF-8 at a
 * whole code point; a lone surrogate becomes U+FFFD. Only a bad key name or a {@code null} key throws.
 *
 * <p><b>Without the agent</b> every method does nothing, and closures just run. If the agent is loaded into the running VM,
 * contexts built before stay without effect, later ones count.
 *
 * @since 0.1
 */
public final class RecordingContext extends Scope implements AutoCloseable {
    private static final RecordingContext OFF = new RecordingContext();

    private RecordingContext() {
        super((Void) null);
    }

    /** {@code filtering} is asked for before the block is looked up: from there to the end of the sequence nothing may block. */
    private RecordingContext(Builder b, boolean filtering) {
        long at = block;
        if (at != Slab.NONE) {
            String value = b.raw;
            int raw = 0;
            int top = rawTop;
            if (value != null) {
                raw = Raw.write(at, top, value);
                top += Raw.length(raw);
                if (b.moreRaw != null) {
                    top = b.moreRaw.write(at, top);
                }
            }
            int number = Slab.opened(serial);
            Slab.begin(at, number);
            Slab.putTop(at, serial);
            Slab.putNext(at, serial);
            b.writeIds(at);
            if (value != null) {
                Raw.resolve(at, b.rawSlot, raw);
                if (b.moreRaw != null) {
                    b.moreRaw.writeIds(at);
                }
                Slab.putRawTop(at, top);
            }
            if (filtering) {
                Slab.putEventMask(at, Filters.mask(at));
            }
            Slab.end(at, number);
        }
    }

    /**
     * Begins a context with one attribute; {@link Builder#build} installs it.
     *
     * <p>Cost: nothing of its own. Without the agent: the builder does nothing.
     *
     * @param key the attribute, not {@code null}
     * @param value the value, or {@code null} to remove the attribute
     * @return a builder for the current thread, not {@code null}
     * @throws NullPointerException if {@code key} is {@code null}
     */
    public static Builder where(RecordingContextKey key, String value) {
        return Bridge.active() ? new Builder().where(key, value) : Builder.OFF.where(key, value);
    }

    /**
     * Begins a context with one attribute given by its name. Costs about a nanosecond more than with a key.
     *
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code null}
     * @param value the value, or {@code null} to remove the attribute
     * @return a builder for the current thread, not {@code null}
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static Builder where(String name, String value) {
        return where(RecordingContextKey.recent(name), value);
    }

    /** A builder without attributes. */
    static Builder builder() {
        return Bridge.active() ? new Builder() : Builder.OFF;
    }

    /**
     * Ends this context and puts back what was installed before it.
     *
     * <p>Closing again does nothing. Closing while inner contexts are open ends them too. Closing on another thread ends it
     * at the owner's next use of this class; until then that thread's samples carry no context. All three are counted. Never
     * throws.
     */
    @Override
    public void close() {
        end();
    }

    // ---- imperative, for injected code ---------------------------------------------------------------------------

    /**
     * Sets one attribute of the current context until it is removed, set again, or the scope that is open now closes. Meant for injected code
     * that has no place to keep a scope; elsewhere prefer {@link #where}. On a virtual thread without an open scope, call {@link #remove}
     * before the thread ends.
     *
     * <p>Cost: as a scope. Without the agent: nothing happens.
     *
     * @param key the attribute, not {@code null}
     * @param value the value, or {@code null} to remove the attribute
     * @throws NullPointerException if {@code key} is {@code null}
     */
    public static void put(RecordingContextKey key, String value) {
        Objects.requireNonNull(key, "the context key is null");
        if (!Bridge.active()) {
            return;
        }
        int slot = key.slot();
        if (slot >= 0) {
            int id = key.idOf(value);
            // Asked before the block is looked up, as in a scope.
            boolean filtering = Filters.inUse();
            long thread = Threads.current();
            // Removing needs no block where there is none.
            long at = id == 0 && Slab.find(thread) == Slab.NONE ? Slab.NONE : Scope.prepare(thread);
            if (at != Slab.NONE) {
                put(at, slot, id, value, filtering);
            }
        }
    }

    private static void put(long at, int slot, int id, String value, boolean filtering) {
        int raw = Slab.rawTop(at);
        if (id == ValueIds.TO_RAW) {
            id = Raw.write(at, raw, value);
            if (id == Slab.OVERFLOW_ID && Slab.top(at) == 0) {
                // No scope remembers an offset: the gaps that earlier values left can be closed.
                int number = Slab.fresh(at);
                Slab.begin(at, number);
                Slab.putId(at, slot, 0);
                raw = Raw.compact(at);
                Slab.putRawTop(at, raw);
                Slab.end(at, number);
                id = Raw.write(at, raw, value);
            }
        }
        int number = Slab.fresh(at);
        Slab.begin(at, number);
        Slab.putId(at, slot, id);
        Slab.putRawTop(at, raw + Raw.length(id));
        if (filtering) {
            Slab.putEventMask(at, Filters.mask(at));
        }
        Slab.end(at, number);
        if (id == 0) {
            Scope.releaseIfEmpty(at);
        }
    }

    /**
     * Sets one attribute given by its name, see {@link #put(RecordingContextKey, String)}.
     *
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code null}
     * @param value the value, or {@code null} to remove the attribute
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static void put(String name, String value) {
        put(RecordingContextKey.recent(name), value);
    }

    /**
     * Removes one attribute from the current context, until the scope that is open now closes. Removing an absent one does nothing.
     *
     * @param key the attribute, not {@code null}
     * @throws NullPointerException if {@code key} is {@code null}
     */
    public static void remove(RecordingContextKey key) {
        put(key, null);
    }

    /**
     * Removes one attribute given by its name, see {@link #remove(RecordingContextKey)}.
     *
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code null}
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static void remove(String name) {
        put(RecordingContextKey.recent(name), null);
    }

    // ---- snapshots -----------------------------------------------------------------------------------------------

    /**
     * Captures the context of the current thread, to be activated later, here or elsewhere.
     *
     * <p>Cost: one small object. Without the agent: a snapshot whose activation does nothing.
     *
     * @return the snapshot, not {@code null}; of an empty context too, and activating that one installs an empty context
     */
    public static Snapshot snapshot() {
        return Bridge.active() ? new Snapshot() : Snapshot.OFF;
    }

    /**
     * Calls {@code task} with the context of {@code snapshot}, and puts back the present one.
     *
     * @param <R> type of the result
     * @param task what to call, not {@code null}
     * @param snapshot the context to install, not {@code null}
     * @return what {@code task} returned
     * @throws Exception if {@code task} threw it
     */
    public static <R> R callWithSnapshot(Callable<R> task, Snapshot snapshot) throws Exception {
        Objects.requireNonNull(task, "the task is null");
        try (Activation a = snapshot.activate()) {
            return task.call();
        }
    }

    /**
     * Runs {@code task} with the context of {@code snapshot}, and puts back the present one.
     *
     * @param task what to run, not {@code null}
     * @param snapshot the context to install, not {@code null}
     */
    public static void runWithSnapshot(Runnable task, Snapshot snapshot) {
        Objects.requireNonNull(task, "the task is null");
        try (Activation a = snapshot.activate()) {
            task.run();
        }
    }

    /**
     * Returns a task that runs with the context that is installed now, on whatever thread runs it. Without the agent: the
     * task as it is.
     *
     * @param task what to run, not {@code null}
     * @return the task with its context, not {@code null}
     */
    public static Runnable wrap(Runnable task) {
        Objects.requireNonNull(task, "the task is null");
        return Bridge.active() ? new Wrapped.Task(task, new Snapshot()) : task;
    }

    /**
     * Returns a task that is called with the context that is installed now. Without the agent: the task as it is.
     *
     * @param <R> type of the result
     * @param task what to call, not {@code null}
     * @return the task with its context, not {@code null}
     */
    public static <R> Callable<R> wrap(Callable<R> task) {
        Objects.requireNonNull(task, "the task is null");
        return Bridge.active() ? new Wrapped.Call<>(task, new Snapshot()) : task;
    }

    /**
     * Returns a supplier that runs with the context that is installed now. Without the agent: the supplier as it is.
     *
     * @param <R> type of the result
     * @param supplier what to ask, not {@code null}
     * @return the supplier with its context, not {@code null}
     */
    public static <R> Supplier<R> wrap(Supplier<R> supplier) {
        Objects.requireNonNull(supplier, "the supplier is null");
        return Bridge.active() ? new Wrapped.Supply<>(supplier, new Snapshot()) : supplier;
    }

    /**
     * Returns an executor that runs each task with the context of the thread that handed it over.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor that carries contexts, not {@code null}
     */
    public static Executor wrap(Executor executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new Wrapped.Executing(executor);
    }

    /**
     * Returns an executor service that runs each task with the context of the thread that handed it over.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor service that carries contexts, not {@code null}; shutting it down shuts {@code executor} down
     */
    public static ExecutorService wrap(ExecutorService executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new Wrapped.Service<>(executor);
    }

    /**
     * Returns a scheduled executor service that runs each task, periodic ones each time, with the context of the thread that handed it over.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor service that carries contexts, not {@code null}; shutting it down shuts {@code executor} down
     */
    public static ScheduledExecutorService wrap(ScheduledExecutorService executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new Wrapped.Scheduled(executor);
    }

    /**
     * Returns a stage whose functions, and those of all stages that come from it, run with the context that is installed now, on whatever
     * thread runs them. {@code toCompletableFuture} leads back to the future without a context.
     *
     * <p>Cost: a reflective call for each stage. Without the agent: the stage as it is.
     *
     * @param <T> type of the result
     * @param stage the stage, not {@code null}
     * @return the stage that carries the context, not {@code null}
     */
    public static <T> CompletionStage<T> wrap(CompletionStage<T> stage) {
        Objects.requireNonNull(stage, "the stage is null");
        return Bridge.active() ? Stages.wrap(stage, new Snapshot()) : stage;
    }

    /**
     * Describes the context of the current thread, for debugging: {@code {endpoint=/checkout, tenant=acme}}. Slow, and not meant
     * to be parsed.
     *
     * @return the description, not {@code null}; {@code {}} if there is no context, and without the agent
     */
    public static String describe() {
        String all = Bridge.active() ? Reading.all(Slab.find(Threads.current())) : null;
        return all == null ? "{}" : "{" + all + "}";
    }

    // ---- builder -------------------------------------------------------------------------------------------------

    /**
     * Collects the attributes of a context. Not for use by several threads at once. May build more than one context.
     *
     * <p>Attributes lie in numbered fields instead of an array: so the compiler can leave the builder out.
     *
     * @since 0.1
     */
    public static final class Builder {
        static final Builder OFF = new Builder();

        private int size;
        private int slot0;
        private int slot1;
        private int slot2;
        private int slot3;
        private int slot4;
        private int slot5;
        private int slot6;
        private int slot7;
        private int id0;
        private int id1;
        private int id2;
        private int id3;
        private int id4;
        private int id5;
        private int id6;
        private int id7;
        /** The value to be written raw, or {@code null}; its id is only known then. */
        private String raw;
        private int rawSlot;
        private MoreRaw moreRaw;

        private Builder() {
        }

        /**
         * Adds an attribute. If it is there already, the value given last counts.
         *
         * @param key the attribute, not {@code null}
         * @param value the value, or {@code null} to remove the attribute from the context below
         * @return this builder
         * @throws NullPointerException if {@code key} is {@code null}
         */
        public Builder where(RecordingContextKey key, String value) {
            Objects.requireNonNull(key, "the context key is null");
            if (this != OFF) {
                int slot = key.slot();
                if (slot >= 0) {
                    int id = key.idOf(value);
                    // An entry in any case, also for a raw value: so the compiler knows how many there are, and each where() of a chain
                    // becomes two assignments instead of a switch.
                    add(slot, id);
                    if (id == ValueIds.TO_RAW) {
                        addRaw(slot, value);
                    }
                }
            }
            return this;
        }

        /**
         * Adds an attribute given by its name, see {@link #where(RecordingContextKey, String)}.
         *
         * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code null}
         * @param value the value, or {@code null} to remove the attribute from the context below
         * @return this builder
         * @throws NullPointerException if {@code name} is {@code null}
         * @throws IllegalArgumentException if it is no name for an attribute
         */
        public Builder where(String name, String value) {
            return where(RecordingContextKey.recent(name), value);
        }

        /**
         * Installs the context on the current thread, on top of what is installed there now.
         *
         * @return the context, not {@code null}; close it on this thread
         */
        public RecordingContext build() {
            return this == OFF ? RecordingContext.OFF : new RecordingContext(this, Filters.inUse());
        }

        /**
         * Runs {@code task} with this context.
         *
         * @param task what to run, not {@code null}
         */
        public void run(Runnable task) {
            Objects.requireNonNull(task, "the task is null");
            try (RecordingContext c = build()) {
                task.run();
            }
        }

        /**
         * Calls {@code task} with this context.
         *
         * @param <R> type of the result
         * @param task what to call, not {@code null}
         * @return what {@code task} returned
         * @throws Exception if {@code task} threw it
         */
        public <R> R call(Callable<R> task) throws Exception {
            Objects.requireNonNull(task, "the task is null");
            try (RecordingContext c = build()) {
                return task.call();
            }
        }

        /**
         * Begins asynchronous work with this context: {@code task} runs with it, and so do the functions that are added to the stage that
         * it returns. The context ends on the current thread when {@code task} returns, and altogether with the last of these functions.
         *
         * @param <T> type of the result
         * @param task what begins the work and returns its stage, neither being {@code null}
         * @return the stage, see {@link RecordingContext#wrap(CompletionStage)}
         */
        public <T> CompletionStage<T> callAsync(Supplier<? extends CompletionStage<T>> task) {
            Objects.requireNonNull(task, "the task is null");
            try (RecordingContext c = build()) {
                return wrap((CompletionStage<T>) task.get());
            }
        }

        private void add(int slot, int id) {
            int at = size;
            if (at < Slab.SLOTS) {
                set(at, slot, id);
                size = at + 1;
            } else {
                replace(slot, id);
            }
        }

        private void addRaw(int slot, String value) {
            if (raw == null || rawSlot == slot) {
                rawSlot = slot;
                raw = value;
            } else {
                addMoreRaw(slot, value);
            }
        }

        private void addMoreRaw(int slot, String value) {
            if (moreRaw == null) {
                moreRaw = new MoreRaw();
            }
            moreRaw.add(slot, value);
        }

        private void set(int at, int slot, int id) {
            switch (at) {
                case 0:
                    slot0 = slot;
                    id0 = id;
                    break;
                case 1:
                    slot1 = slot;
                    id1 = id;
                    break;
                case 2:
                    slot2 = slot;
                    id2 = id;
                    break;
                case 3:
                    slot3 = slot;
                    id3 = id;
                    break;
                case 4:
                    slot4 = slot;
                    id4 = id;
                    break;
                case 5:
                    slot5 = slot;
                    id5 = id;
                    break;
                case 6:
                    slot6 = slot;
                    id6 = id;
                    break;
                default:
                    slot7 = slot;
                    id7 = id;
            }
        }

        /**
         * A ninth entry: one slot occurs twice now, or one is that of an inert key. Makes room by taking out an entry that has no
         * effect; that need not be one of the same slot.
         */
        private void replace(int slot, int id) {
            int[] slots = {slot0, slot1, slot2, slot3, slot4, slot5, slot6, slot7, slot};
            int[] ids = {id0, id1, id2, id3, id4, id5, id6, id7, id};
            int hidden = 0;
            while (slots[hidden] >= 0 && !occurs(slots[hidden], slots, hidden + 1)) {
                hidden++;
            }
            for (int i = hidden; i < Slab.SLOTS; i++) {
                set(i, slots[i + 1], ids[i + 1]);
            }
        }

        private static boolean occurs(int slot, int[] slots, int from) {
            for (int i = from; i < slots.length; i++) {
                if (slots[i] == slot) {
                    return true;
                }
            }
            return false;
        }

        /** In the sequence. Where a raw value is meant, its id is only marked. */
        private void writeIds(long block) {
            int n = size;
            if (n == 0) {
                return;
            }
            Slab.putId(block, slot0, id0);
            if (n == 1) {
                return;
            }
            Slab.putId(block, slot1, id1);
            if (n == 2) {
                return;
            }
            Slab.putId(block, slot2, id2);
            if (n == 3) {
                return;
            }
            Slab.putId(block, slot3, id3);
            if (n == 4) {
                return;
            }
            Slab.putId(block, slot4, id4);
            if (n == 5) {
                return;
            }
            Slab.putId(block, slot5, id5);
            if (n == 6) {
                return;
            }
            Slab.putId(block, slot6, id6);
            if (n == 7) {
                return;
            }
            Slab.putId(block, slot7, id7);
        }
    }

    /** The second and further raw values of a builder: rare, as they share one small area. */
    private static final class MoreRaw {
        private final int[] ids = new int[Slab.SLOTS];
        private final String[] values = new String[Slab.SLOTS];

        void add(int slot, String value) {
            values[slot] = value;
        }

        int write(long block, int top) {
            int at = top;
            for (int slot = 0; slot < Slab.SLOTS; slot++) {
                if (values[slot] != null) {
                    ids[slot] = Raw.write(block, at, values[slot]);
                    at += Raw.length(ids[slot]);
                }
            }
            return at;
        }

        /** In the sequence. */
        void writeIds(long block) {
            for (int slot = 0; slot < Slab.SLOTS; slot++) {
                if (values[slot] != null) {
                    Raw.resolve(block, slot, ids[slot]);
                }
            }
        }
    }

    // ---- snapshot and activation ---------------------------------------------------------------------------------

    /**
     * A context as it was when captured. Immutable; may be activated by any thread, any number of times, at the same time.
     *
     * @since 0.1
     */
    public static final class Snapshot {
        static final Snapshot OFF = new Snapshot((Void) null);

        private final long ids0;
        private final long ids1;
        private final long ids2;
        private final long ids3;
        /** The raw area, if a value lies there. */
        private final byte[] raw;

        /** A snapshot that does nothing. Needs no agent. */
        private Snapshot(Void off) {
            ids0 = 0;
            ids1 = 0;
            ids2 = 0;
            ids3 = 0;
            raw = null;
        }

        private Snapshot() {
            long key = Threads.current();
            long at = Slab.find(key);
            if (at != Slab.NONE && Slab.hasForeignClose(at)) {
                Repairs.repair(at, key);
            }
            ids0 = at == Slab.NONE ? 0 : Slab.ids(at, 0);
            ids1 = at == Slab.NONE ? 0 : Slab.ids(at, 1);
            ids2 = at == Slab.NONE ? 0 : Slab.ids(at, 2);
            ids3 = at == Slab.NONE ? 0 : Slab.ids(at, 3);
            int top = at == Slab.NONE ? 0 : Slab.rawTop(at);
            raw = top == 0 ? null : Raw.copy(at, top);
        }

        /**
         * Installs this context on the current thread in place of the one that is installed there.
         *
         * <p>Cost: as a scope, whatever the number of attributes. Without the agent: nothing happens.
         *
         * @return the activation, not {@code null}; close it on this thread
         */
        public Activation activate() {
            return this == OFF ? Activation.OFF : new Activation(this, Filters.inUse());
        }

        /** In the sequence: copies the values whose bytes lie in {@link #raw}. Returns how many found no room. */
        private int writeRaw(long block, int top) {
            int at = top;
            int lost = 0;
            for (int slot = 0; slot < Slab.SLOTS; slot++) {
                int id = Slab.id(block, slot);
                if (Raw.isRaw(id)) {
                    int moved = Raw.write(block, at, raw, id);
                    Slab.putId(block, slot, moved);
                    at += Raw.length(moved);
                    lost += moved == Slab.OVERFLOW_ID ? 1 : 0;
                }
            }
            Slab.putRawTop(block, at);
            return lost;
        }
    }

    /**
     * A snapshot installed on the current thread. {@link #close} follows the rules of {@link RecordingContext#close}.
     *
     * @since 0.1
     */
    public static final class Activation extends Scope implements AutoCloseable {
        private static final Activation OFF = new Activation();

        private Activation() {
            super((Void) null);
        }

        private Activation(Snapshot s, boolean filtering) {
            long at = block;
            if (at != Slab.NONE) {
                int lost = 0;
                int number = Slab.opened(serial);
                Slab.begin(at, number);
                Slab.putTop(at, serial);
                Slab.putNext(at, serial);
                Slab.putIds(at, 0, s.ids0);
                Slab.putIds(at, 1, s.ids1);
                Slab.putIds(at, 2, s.ids2);
                Slab.putIds(at, 3, s.ids3);
                if (s.raw != null) {
                    lost = s.writeRaw(at, rawTop);
                }
                if (filtering) {
                    Slab.putEventMask(at, Filters.mask(at));
                }
                Slab.end(at, number);
                for (; lost > 0; lost--) {
                    Bridge.count(Misuse.RAW_FULL);
                }
            }
        }

        /** Puts back the context that was installed before the snapshot was activated. Never throws. */
        @Override
        public void close() {
            end();
        }
    }
}
