package io.ctxagent;

import io.ctxagent.internal.propagation.ScopedValues;
import java.util.Objects;

/**
 * Registers {@linkplain ContextType context types}. All types together, and the keys in use, have
 * eight attributes.
 *
 * <p>Threads: any may register, also the same type at the same time. Without the agent: types are
 * checked and remembered, and contexts do nothing.
 *
 * @since 0.1
 */
public final class ContextTypes {
    private ContextTypes() {}

    /**
     * Registers a type: its attributes take their places in the recording. All of them or none: if
     * they do not all fit, no place is taken.
     *
     * <p>Threads: any. Cost: reflection, once. Without the agent: the type is checked and
     * remembered, and takes its places when it is first set after the agent was loaded.
     *
     * @param type a class with String fields, not {@code null}
     * @return whether its attributes will be recorded; {@code false} if no slots are left for them,
     *     or no agent
     * @throws IllegalArgumentException if the class has no field that is an attribute, a field of
     *     another type, a field that cannot be read because its package is not open to this module,
     *     or a name that {@link RecordingContextKey#forName} refuses
     */
    public static boolean register(Class<? extends ContextType> type) {
        Objects.requireNonNull(type, "the context type is null");
        return RegisteredTypes.register(type);
    }

    /**
     * Runs {@code task} with a scoped value bound and its attributes installed as the context. For
     * 25 and later.
     *
     * <p>A thread that inherits the binding, as in a structured task scope, calls {@link #setBound}
     * to have the attributes too.
     *
     * @param scopedValue a {@code java.lang.ScopedValue} of a context type; declared as an object
     *     because this API is for 17 and later. Not {@code null}
     * @param value what to bind, of a registered type; not {@code null}
     * @param task what to run, not {@code null}
     * @throws IllegalArgumentException if the first argument is no scoped value
     */
    public static void runWhere(Object scopedValue, ContextType value, Runnable task) {
        Objects.requireNonNull(value, "the value is null");
        Objects.requireNonNull(task, "the task is null");
        ScopedValues.run(scopedValue, value, new Within(value, task));
    }

    /**
     * Installs the attributes of what a scoped value is bound to in this thread. For 25 and later.
     * Without the agent, or if it is not bound: nothing is installed.
     *
     * @param scopedValue a {@code java.lang.ScopedValue} of a context type, not {@code null}
     * @return the context, not {@code null}; close it on this thread
     * @throws IllegalArgumentException if it is no scoped value
     */
    public static RecordingContext setBound(Object scopedValue) {
        Object bound = ScopedValues.get(scopedValue);
        return bound instanceof ContextType
                ? ((ContextType) bound).set()
                : RecordingContext.builder().build();
    }

    /** A task and its attributes. */
    private static final class Within implements Runnable {
        private final ContextType value;
        private final Runnable task;

        Within(ContextType value, Runnable task) {
            this.value = value;
            this.task = task;
        }

        @Override
        public void run() {
            try (RecordingContext c = value.set()) {
                task.run();
            }
        }
    }
}
