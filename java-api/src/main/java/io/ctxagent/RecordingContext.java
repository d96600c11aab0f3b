package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.BlockText;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.ExtraWork;
import io.ctxagent.internal.block.TimedScope;
import io.ctxagent.internal.block.InPlaceUpdate;
import io.ctxagent.internal.propagation.ContextExecutor;
import io.ctxagent.internal.propagation.ContextExecutorService;
import io.ctxagent.internal.propagation.ContextScheduler;
import io.ctxagent.internal.propagation.ContextSnapshot;
import io.ctxagent.internal.propagation.ContextStage;
import io.ctxagent.internal.propagation.ContextTasks;
import io.ctxagent.internal.propagation.ContextThreadFactory;
import io.ctxagent.internal.propagation.SnapshotSource;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A context installed on the current thread: up to eight attributes, each a name and a value, that
 * samples taken in this thread carry while it is open.
 *
 * <pre>{@code
 * try (var c = RecordingContext.where("endpoint", "/checkout").where("tenant", tenant).build()) {
 *     handle(request);
 * }
 * }</pre>
 *
 * <p>A context sets the attributes that it names and leaves all others as they are; a {@code null}
 * value removes one. {@link #close} puts back what these attributes had before. So contexts of an
 * application and of a library that share a thread may open and close in any order.
 *
 * <p><b>Threads.</b> A context belongs to the logical thread that built it, platform or virtual,
 * and stays with a virtual thread when that is unmounted. Other threads do not inherit it; {@link
 * #snapshot} and {@link #wrap(Runnable)} carry it over.
 *
 * <p><b>Cost.</b> No lock, no system call, and no allocation where the scope does not escape; a few
 * nanoseconds. A value that was not seen before costs about a microsecond, once.
 *
 * <p><b>Misuse</b> never throws into the application. Scopes closed twice, out of order, or by
 * another thread are repaired and counted in the recording: an attribute has the value of the
 * context that was opened last of those that name it and are open. Values are cut to 255 bytes of
 * UTF-8 at a whole code point; a lone surrogate becomes U+FFFD. Only a bad key name or a {@code
 * null} key throws.
 *
 * <p><b>Without the agent</b> every method does nothing, and closures just run. If the agent is
 * loaded into the running VM, contexts built before stay without effect, and so do those of a
 * {@link Builder} made before, which the recording counts.
 *
 * @since 0.1
 */
public final class RecordingContext extends BuilderScope implements AutoCloseable {
    private RecordingContext(Builder b, int extra) {
        super(b, (extra & ExtraWork.FILTER) != 0);
        // Only static methods where it is rare (rule 3); strict tests alone get the scope itself.
        if (extra != 0) {
            if ((extra & ExtraWork.WATCH) != 0) {
                watch = WatchedScopes.opened(this);
            }
            watch = TimedScope.opened(watch, block, owner, serial, slots());
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
        return builder().where(key, value);
    }

    /**
     * Begins a context with one attribute given by its name. Costs about a nanosecond more than
     * with a key.
     *
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code
     *     null}
     * @param value the value, or {@code null} to remove the attribute
     * @return a builder for the current thread, not {@code null}
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static Builder where(String name, String value) {
        return builder().where(name, value);
    }

    /**
     * A builder without attributes, a new object even if there is no agent. If that case had one
     * shared object, compiled code of an application to which an agent is attached later could meet
     * both, and C2 could no longer remove the allocation. The same holds for the scope.
     */
    static Builder builder() {
        // Asked before the builder is there, see BuilderEntries.
        boolean on = ContextSupport.isOn();
        return new Builder(on);
    }

    /**
     * Ends this context: each of its attributes gets back the value that it had before. There are
     * two exceptions. An attribute that was {@link #put} or removed since then stays as it is. An
     * attribute that a later, open context has set keeps that value; when the later context is
     * closed, it gets back the value from before this context.
     *
     * <p>Closing again does nothing. Closing on another thread takes effect when the owner next
     * uses this class; until then samples of the owner carry no context. Both are counted. Never
     * throws.
     */
    @Override
    public void close() {
        unwatch();
        end();
    }

    // ---- imperative, for injected code ----------------------------------------------------------

    /**
     * Sets one attribute of the current thread until it is removed or set again; no close of a
     * context that is open now changes it. Meant for injected code that has no place to keep a
     * scope; elsewhere prefer {@link #where}. On a virtual thread, call {@link #remove} before the
     * thread ends. The bytes of a {@linkplain RecordingContextKey#raw raw} value that is replaced
     * within a scope may be taken until no scope of the thread is open.
     *
     * <p>Cost: as a scope. Without the agent: nothing happens.
     *
     * @param key the attribute, not {@code null}
     * @param value the value, or {@code null} to remove the attribute
     * @throws NullPointerException if {@code key} is {@code null}
     */
    public static void put(RecordingContextKey key, String value) {
        Objects.requireNonNull(key, "the context key is null");
        if (ContextSupport.isOn()) {
            int place = key.place();
            if (place >= 0) {
                InPlaceUpdate.put(place, value);
            }
        }
    }

    /**
     * Sets one attribute given by its name, see {@link #put(RecordingContextKey, String)}.
     *
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code
     *     null}
     * @param value the value, or {@code null} to remove the attribute
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static void put(String name, String value) {
        put(RecordingContextKey.recent(name), value);
    }

    /**
     * Removes one attribute of the current thread; no close of a context that is open now brings it
     * back. Removing an absent one does nothing, and so does the call without the agent.
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
     * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not {@code
     *     null}
     * @throws NullPointerException if {@code name} is {@code null}
     * @throws IllegalArgumentException if it is no name for an attribute
     */
    public static void remove(String name) {
        put(RecordingContextKey.recent(name), null);
    }

    // ---- snapshots ------------------------------------------------------------------------------

    /**
     * Captures the context of the current thread, to be activated later, here or elsewhere.
     *
     * <p>Cost: one small object. Without the agent: a snapshot whose activation does nothing.
     *
     * @return the snapshot, not {@code null}; of an empty context too
     */
    public static Snapshot snapshot() {
        return ContextSupport.isOn() ? new Snapshot() : new Snapshot((Void) null);
    }

    /**
     * Calls {@code task} with the attributes of {@code snapshot}, see {@link Snapshot#activate}.
     *
     * <p>Threads: any. Cost: an activation. Without the agent: the task is just called.
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
     * Runs {@code task} with the attributes of {@code snapshot}, see {@link Snapshot#activate}.
     *
     * <p>Threads: any. Cost: an activation. Without the agent: the task just runs.
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
     * Returns a task that runs with exactly the context that is installed now, on whatever thread
     * runs it. Without the agent: the task as it is.
     *
     * @param task what to run, not {@code null}
     * @return the task with its context, not {@code null}
     */
    public static Runnable wrap(Runnable task) {
        Objects.requireNonNull(task, "the task is null");
        return ContextSupport.isOn() ? ContextTasks.of(task, new Snapshot()) : task;
    }

    /**
     * Returns a task that is called with the context that is installed now. Without the agent: the
     * task as it is.
     *
     * @param <R> type of the result
     * @param task what to call, not {@code null}
     * @return the task with its context, not {@code null}
     */
    public static <R> Callable<R> wrap(Callable<R> task) {
        Objects.requireNonNull(task, "the task is null");
        return ContextSupport.isOn() ? ContextTasks.of(task, new Snapshot()) : task;
    }

    /**
     * Returns a supplier that runs with the context that is installed now. Without the agent: the
     * supplier as it is.
     *
     * @param <R> type of the result
     * @param supplier what to ask, not {@code null}
     * @return the supplier with its context, not {@code null}
     */
    public static <R> Supplier<R> wrap(Supplier<R> supplier) {
        Objects.requireNonNull(supplier, "the supplier is null");
        return ContextSupport.isOn() ? ContextTasks.of(supplier, new Snapshot()) : supplier;
    }

    /**
     * Returns a function that runs with the context that is installed now. Without the agent: the
     * function as it is. A lambda as argument needs a cast, as several methods take one.
     *
     * @param <T> type of the argument
     * @param <R> type of the result
     * @param function what to apply, not {@code null}
     * @return the function with its context, not {@code null}
     */
    @SuppressWarnings("overloads")
    public static <T, R> Function<T, R> wrap(Function<T, R> function) {
        Objects.requireNonNull(function, "the function is null");
        return ContextSupport.isOn() ? ContextTasks.of(function, new Snapshot()) : function;
    }

    /**
     * Returns a factory whose threads run with the context of the thread that had them made. Not
     * for pools, whose threads work for many: wrap the executor. Without the agent: threads are
     * made as they are.
     *
     * @param factory what makes the threads, not {@code null}
     * @return the factory that carries contexts, not {@code null}
     */
    @SuppressWarnings("overloads")
    public static ThreadFactory wrap(ThreadFactory factory) {
        Objects.requireNonNull(factory, "the factory is null");
        return new ContextThreadFactory(factory, new CurrentSnapshot());
    }

    /**
     * Returns an executor that runs each task with the context of the thread that handed it over.
     *
     * <p>Cost: a snapshot and a small object for each task, and an activation where it runs.
     * Without the agent: tasks are handed on as they are.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor that carries contexts, not {@code null}
     */
    @SuppressWarnings("overloads")
    public static Executor wrap(Executor executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new ContextExecutor<>(executor, new CurrentSnapshot());
    }

    /**
     * Returns an executor service that runs each task with the context of the thread that handed it
     * over.
     *
     * <p>Cost: as for {@link #wrap(Executor)}. Without the agent: tasks are handed on as they are.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor service that carries contexts, not {@code null}; shutting it down shuts
     *     {@code executor} down
     */
    public static ExecutorService wrap(ExecutorService executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new ContextExecutorService<>(executor, new CurrentSnapshot());
    }

    /**
     * Returns a scheduled executor service that runs each task, periodic ones each time, with the
     * context of the thread that handed it over.
     *
     * <p>Cost: as for {@link #wrap(Executor)}. Without the agent: tasks are handed on as they are.
     *
     * @param executor where tasks run, not {@code null}
     * @return the executor service that carries contexts, not {@code null}; shutting it down shuts
     *     {@code executor} down
     */
    public static ScheduledExecutorService wrap(ScheduledExecutorService executor) {
        Objects.requireNonNull(executor, "the executor is null");
        return new ContextScheduler(executor, new CurrentSnapshot());
    }

    /**
     * Returns a stage whose functions, and those of all stages that come from it, run with the
     * context that is installed now, on whatever thread runs them. {@code toCompletableFuture}
     * leads back to the future without a context.
     *
     * <p>Cost: a reflective call for each stage. Without the agent: the stage as it is.
     *
     * @param <T> type of the result
     * @param stage the stage, not {@code null}
     * @return the stage that carries the context, not {@code null}
     */
    public static <T> CompletionStage<T> wrap(CompletionStage<T> stage) {
        Objects.requireNonNull(stage, "the stage is null");
        return ContextSupport.isOn() ? ContextStage.of(stage, new Snapshot()) : stage;
    }

    /**
     * Describes the context of the current thread, for debugging: {@code {endpoint=/checkout,
     * tenant=acme}}. Slow, and not meant to be parsed.
     *
     * @return the description, not {@code null}; {@code {}} if there is no context, and without the
     *     agent
     */
    public static String describe() {
        String all = ContextSupport.isOn()
                ? BlockText.all(CurrentBlock.forReading(CurrentThread.key()))
                : null;
        return all == null ? "{}" : "{" + all + "}";
    }

    // ---- builder --------------------------------------------------------------------------------

    /**
     * Collects the attributes of a context. Not for use by several threads at once. May build more
     * than one context.
     *
     * @since 0.1
     */
    public static final class Builder extends BuilderEntries {
        private Builder(boolean on) {
            super(on);
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
            return with(size(), key, value);
        }

        /**
         * Adds an attribute given by its name, see {@link #where(RecordingContextKey, String)}.
         *
         * @param name the name of the attribute, as for {@link RecordingContextKey#forName}; not
         *     {@code null}
         * @param value the value, or {@code null} to remove the attribute from the context below
         * @return this builder
         * @throws NullPointerException if {@code name} is {@code null}
         * @throws IllegalArgumentException if it is no name for an attribute
         */
        public Builder where(String name, String value) {
            int at = size();
            RecordingContextKey key = RecordingContextKey.recent(name);
            // No constant key here to tell its class: so ask, and have a profile of one's own for
            // the answer.
            return key instanceof RecordingContextKey.InternedKey
                    ? with(at, (RecordingContextKey.InternedKey) key, value)
                    : with(at, key, value);
        }

        private Builder with(int at, RecordingContextKey key, String value) {
            if (at != OFF) {
                int place = key.place();
                if (place >= 0) {
                    long entry = key.entry(place, value);
                    add(at, entry, key.isPlain(entry) ? null : value);
                }
            }
            return this;
        }

        /**
         * Installs the context on the current thread, on top of what is installed there now.
         *
         * <p>Cost: that of the scope, see {@link RecordingContext}; allocates only if the scope
         * escapes. Without the agent: a scope that does nothing.
         *
         * @return the context, not {@code null}; close it on this thread
         */
        public RecordingContext build() {
            if (!isOn()) {
                ContextSupport.countMadeBeforeAgent();
            }
            return new RecordingContext(this, ExtraWork.kinds());
        }

        /**
         * Runs {@code task} with this context, which ends when it returns or throws. Without the
         * agent: the task just runs.
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
         * Calls {@code task} with this context, which ends when it returns or throws. Without the
         * agent: the task is just called.
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
         * Begins asynchronous work with this context: {@code task} runs with it, and so do the
         * functions that are added to the stage that it returns. The context ends on the current
         * thread when {@code task} returns, and altogether with the last of these functions.
         *
         * @param <T> type of the result
         * @param task what begins the work and returns its stage, neither being {@code null}
         * @return the stage, not {@code null}; see {@link RecordingContext#wrap(CompletionStage)}
         */
        public <T> CompletionStage<T> callAsync(Supplier<? extends CompletionStage<T>> task) {
            Objects.requireNonNull(task, "the task is null");
            try (RecordingContext c = build()) {
                return wrap((CompletionStage<T>) task.get());
            }
        }
    }

    /**
     * A context as it was when captured. Immutable; may be activated by any thread, any number of
     * times, at the same time.
     *
     * @since 0.1
     */
    public static final class Snapshot extends SnapshotContents {
        private Snapshot(Void off) {
            super(off);
        }

        private Snapshot() {}

        /**
         * Installs the attributes of this context on the current thread. Attributes that it does
         * not have stay as they are there, see {@link #activateExactly}.
         *
         * <p>Cost: as a scope, whatever the number of attributes. Without the agent: nothing
         * happens.
         *
         * @return the activation, not {@code null}; close it on this thread
         */
        public Activation activate() {
            return new Activation(this, false, ExtraWork.kinds());
        }

        /**
         * Installs this context on the current thread in place of the one that is installed there:
         * attributes that it does not have are removed until the activation is closed. This is what
         * {@link RecordingContext#wrap(Runnable)} does, where another thread's work is to be
         * labelled as what it is.
         *
         * <p>Cost: as {@link #activate}. Without the agent: nothing happens.
         *
         * @return the activation, not {@code null}; close it on this thread
         */
        @Override
        public Activation activateExactly() {
            return new Activation(this, true, ExtraWork.kinds());
        }
    }

    /** The context of the thread that hands a task to an executor. */
    private static final class CurrentSnapshot implements SnapshotSource {
        @Override
        public ContextSnapshot capture() {
            return ContextSupport.isOn() ? RecordingContext.snapshot() : null;
        }
    }

    /**
     * A snapshot installed on the current thread. {@link #close} follows the rules of {@link
     * RecordingContext#close}.
     *
     * @since 0.1
     */
    public static final class Activation extends SnapshotScope implements AutoCloseable {
        private Activation(Snapshot s, boolean exactly, int extra) {
            super(s, exactly, (extra & ExtraWork.FILTER) != 0 && s.isOn && EventFilter.prepare());
            if (extra != 0) {
                if ((extra & ExtraWork.WATCH) != 0) {
                    watch = WatchedScopes.opened(this);
                }
                watch = TimedScope.opened(watch, block, owner, serial, slots());
            }
        }

        /**
         * Puts back what the attributes had before the snapshot was activated. Never throws.
         */
        @Override
        public void close() {
            unwatch();
            end();
        }
    }
}
