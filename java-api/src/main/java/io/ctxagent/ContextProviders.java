package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Headroom;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Finds and runs the providers of context types: before a recording, and whenever a key is first
 * used, as an application's own loader may be known only there. Each loader is searched once, each
 * provider runs once.
 */
final class ContextProviders {
    /**
     * Failed providers of one loader after which no further one is tried: a loader that cannot read
     * its files fails each time.
     */
    private static final int MAX_FAILURES = 16;

    /** Made when first used: an initialiser that fails once for want of memory fails each time. */
    private static volatile ContextProviders instance;
    /** Racy: logged once or twice. */
    private static boolean hiddenLogged;

    private static volatile boolean isOff;

    /** Weak: an application that goes takes its entries along. */
    private final Set<ClassLoader> searched =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final Set<Class<?>> started =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private ContextProviders() {}

    private static ContextProviders instance() {
        ContextProviders m = instance;
        return m != null ? m : make();
    }

    private static synchronized ContextProviders make() {
        if (instance == null) {
            instance = new ContextProviders();
        }
        return instance;
    }

    /**
     * Runs all providers that the loader of the application, that of this API and that of the
     * current thread know, unless that was done. A provider that uses the API meets it with its
     * slots as they are by then.
     */
    static void run() {
        if (!isOff && Bridge.isConnected() && Headroom.hasMemory()) {
            search(ofApplicationOrThread(false));
            search(ContextRegistration.class.getClassLoader());
            search(ofApplicationOrThread(true));
        }
    }

    /** Called in a copy of this API that is not the application's. */
    static void turnOff() {
        isOff = true;
    }

    /**
     * As {@link #run} if there is no provider to run: then the first use of a key need not search.
     */
    static void runIfNoneIsNamed() {
        ClassLoader loader = ContextRegistration.class.getClassLoader();
        try {
            if (loader != null
                    && !isProvidedByModule()
                    && !loader.getResources(
                                    "META-INF/services/" + ContextRegistration.class.getName())
                            .hasMoreElements()) {
                run();
            }
        } catch (IOException | RuntimeException unreadable) {
            // Logged when a key is first used.
        }
    }

    private static boolean isProvidedByModule() {
        for (Module module : ModuleLayer.boot().modules()) {
            for (ModuleDescriptor.Provides provided : module.getDescriptor().provides()) {
                if (provided.service().equals(ContextRegistration.class.getName())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The loader; {@code null} if there is none, or if a security manager hides it. */
    private static ClassLoader ofApplicationOrThread(boolean ofThread) {
        try {
            return ofThread
                    ? Thread.currentThread().getContextClassLoader()
                    : ClassLoader.getSystemClassLoader();
        } catch (RuntimeException | Error hidden) {
            if (!hiddenLogged) {
                hiddenLogged = true;
                log(
                        "context types of " + (ofThread ? "a thread's" : "the application's")
                                + " class loader were not looked up",
                        hidden);
            }
            return null;
        }
    }

    private static void search(ClassLoader loader) {
        try {
            if (loader != null && instance().searched.add(loader)) {
                run(ServiceLoader.load(ContextRegistration.class, loader).stream()
                        .iterator());
            }
        } catch (OutOfMemoryError | StackOverflowError shortage) {
            // Searched again: a shortage says nothing about the loader, and to log it now could
            // leave the JDK's loggers unusable.
            instance().searched.remove(loader);
        } catch (RuntimeException | Error broken) {
            log("context types of " + loader + " were not looked up", broken);
        }
    }

    private static void run(Iterator<ServiceLoader.Provider<ContextRegistration>> providers) {
        int failures = 0;
        while (failures < MAX_FAILURES) {
            try {
                if (!providers.hasNext()) {
                    return;
                }
                if (!runOnce(providers.next())) {
                    failures++;
                }
            } catch (ServiceConfigurationError broken) {
                failures++;
                log("context types of a provider were not registered", broken);
            }
        }
    }

    /**
     * Makes a provider and runs it, unless that was done: its constructor is the application's code
     * too. Whether there was one.
     */
    private static boolean runOnce(ServiceLoader.Provider<ContextRegistration> found) {
        Class<?> type = found.type();
        // A module's provider method may declare no more than the interface.
        boolean isKnown = !Modifier.isAbstract(type.getModifiers());
        ContextRegistration provider = null;
        try {
            if (isKnown && !instance().started.add(type)) {
                return true;
            }
            provider = found.get();
            if (isKnown || instance().started.add(provider.getClass())) {
                provider.register();
            }
        } catch (Throwable broken) {
            // Checked ones too: languages without them throw them where none is declared.
            log("context types of " + type.getName() + " were not registered", broken);
        }
        return provider != null;
    }

    private static void log(String what, Throwable why) {
        warn(what + ": " + why);
    }

    /**
     * Logs a line. Never throws: loggers are the application's, and the JDK's may have found no
     * memory when they were first used.
     */
    static void warn(String line) {
        try {
            System.getLogger("io.ctxagent").log(System.Logger.Level.WARNING, line);
        } catch (RuntimeException | LinkageError | VirtualMachineError unusable) {
            // There is nowhere to log.
        }
    }
}
