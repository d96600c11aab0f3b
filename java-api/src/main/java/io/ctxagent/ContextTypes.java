package io.ctxagent;

import io.ctxagent.internal.propagation.ScopedValues;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

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
    /** Uses of a type that is not registered for each search for providers. */
    private static final int MISSES_PER_SEARCH = 256;

    /**
     * With the class itself, so that a type of an application that is unloaded goes with it. Made
     * when first used, see {@link ContextSupport}.
     */
    private static volatile ClassValue<Registered> registrations;

    private ContextTypes() {
    }

    private static Registered registrationOf(Class<?> type) {
        ClassValue<Registered> all = registrations;
        return (all != null ? all : makeRegistrations()).get(type);
    }

    private static synchronized ClassValue<Registered> makeRegistrations() {
        if (registrations == null) {
            registrations = new ClassValue<>() {
                @Override
                protected Registered computeValue(Class<?> type) {
                    // Not the fields: types that are not registered come here, too.
                    return new Registered();
                }
            };
        }
        return registrations;
    }

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
        Registered place = registrationOf(type);
        if (place.get() == null) {
            place.compareAndSet(null, new ContextTypeFields(type));
        }
        return ContextSupport.isOn() && place.get().reserve();
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
        return bound instanceof ContextType ? set((ContextType) bound)
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

    static RecordingContext set(ContextType values) {
        RecordingContext.Builder builder = RecordingContext.builder();
        ContextTypeFields fields = ContextSupport.isOn() ? registered(values.getClass()) : null;
        if (fields != null && fields.reserve()) {
            fields.addTo(builder, values);
        }
        return builder.build();
    }

    private static ContextTypeFields registered(Class<?> type) {
        Registered place = registrationOf(type);
        ContextTypeFields fields = place.get();
        return fields != null ? fields : registeredByProvider(place, type);
    }

    /**
     * This may be the application's first use of the API: its providers were not run yet, nor those
     * that only this thread's loader knows.
     */
    private static ContextTypeFields registeredByProvider(Registered place, Class<?> type) {
        int miss = place.misses++;
        if (miss % MISSES_PER_SEARCH == 0) {
            ContextProviders.run();
            if (miss == 0 && place.get() == null) {
                ContextProviders.warn("context type " + type.getName()
                        + " is not registered: its attributes are"
                        + " not recorded; call ContextTypes.register first, or from a provider "
                        + "named in META-INF/services/io.ctxagent.ContextRegistration");
            }
        }
        return place.get();
    }

    /** The attributes of a type, {@code null} until it is registered. */
    private static final class Registered extends AtomicReference<ContextTypeFields> {
        private static final long serialVersionUID = 1;

        /** How often it was set without being registered. Racy: a rough number is enough. */
        private transient int misses;
    }
}
