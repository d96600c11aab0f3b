package io.ctxagent;

import java.util.concurrent.atomic.AtomicReference;

/** The context types that are registered, and what is done with an object of one. */
final class RegisteredTypes {
    /** Uses of a type that is not registered for each search for providers. */
    private static final int MISSES_PER_SEARCH = 256;

    /**
     * With the class itself, so that a type of an application that is unloaded goes with it. Made
     * when first used, see {@link ContextSupport}.
     */
    private static volatile ClassValue<Registered> registrations;

    private RegisteredTypes() {}

    private static Registered registrationOf(Class<?> type) {
        ClassValue<Registered> all = registrations;
        return (all != null ? all : makeRegistrations()).get(type);
    }

    private static ClassValue<Registered> makeRegistrations() {
        ClassValue<Registered> made = new ClassValue<>() {
            @Override
            protected Registered computeValue(Class<?> type) {
                // Not the fields: types that are not registered come here, too.
                return new Registered();
            }
        };
        return publish(made);
    }

    private static synchronized ClassValue<Registered> publish(ClassValue<Registered> made) {
        if (registrations == null) {
            registrations = made;
        }
        return registrations;
    }

    /** See {@link ContextTypes#register}. */
    static boolean register(Class<?> type) {
        Registered place = registrationOf(type);
        if (place.get() == null) {
            place.compareAndSet(null, new ContextTypeFields(type));
        }
        return ContextSupport.isOn() && place.get().reserve();
    }

    /** Installs the attributes that an object of a registered type has; else none. */
    static RecordingContext set(Object values) {
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
