package io.ctxagent.internal;

import io.ctxagent.ContextRegistration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** Finds the providers of context types, once, as early as the agent lets us. */
public final class Registrations {
    private static final AtomicBoolean DONE = new AtomicBoolean();

    private Registrations() {
    }

    /** Runs all providers, unless that was done. A provider that uses the API meets it with its slots as they are by then. */
    public static void runOnce() {
        if (Bridge.active() && DONE.compareAndSet(false, true)) {
            Set<Class<?>> seen = new HashSet<>();
            run(false, seen);
            run(true, seen);
        }
    }

    /** With the loader of the thread or with that of the application, unless a security manager hides it. */
    private static void run(boolean ofThread, Set<Class<?>> seen) {
        ClassLoader loader = null;
        try {
            loader = ofThread ? Thread.currentThread().getContextClassLoader() : ClassLoader.getSystemClassLoader();
            Iterator<ContextRegistration> providers = ServiceLoader.load(ContextRegistration.class, loader).iterator();
            while (providers.hasNext()) {
                run(providers, seen);
            }
        } catch (RuntimeException | Error broken) {
            log("context types of " + loader + " were not looked up", broken);
        }
    }

    private static void run(Iterator<ContextRegistration> providers, Set<Class<?>> seen) {
        ContextRegistration provider = null;
        try {
            provider = providers.next();
            if (seen.add(provider.getClass())) {
                provider.register();
            }
        } catch (RuntimeException | Error broken) {
            log("context types of " + (provider == null ? "a provider" : provider.getClass().getName()) + " were not registered", broken);
        }
    }

    private static void log(String what, Throwable why) {
        System.getLogger("io.ctxagent").log(System.Logger.Level.WARNING, what + ": " + why);
    }
}
