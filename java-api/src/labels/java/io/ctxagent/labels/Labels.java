package io.ctxagent.labels;

import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * What the classes of {@link io.ctxagent.labels.source} call, where a library of the application
 * tells what a thread works for. The agent defines this class in the boot loader, so that the
 * classes of all loaders find it.
 *
 * <p>No method throws, whatever happens: a source that fails is off from then on, which the agent
 * says once.
 */
public final class Labels {
    /** The bits of the agent's sources. */
    public static final int HTTP_SERVER = 1;

    public static final int TOMCAT = 1 << 1;
    public static final int SPRING = 1 << 2;
    public static final int OTEL = 1 << 3;
    public static final int OTEL_AGENT = 1 << 4;
    public static final int MDC = 1 << 5;
    public static final int JETTY = 1 << 6;
    public static final int NETTY = 1 << 7;
    public static final int WEBFLUX = 1 << 8;
    public static final int GRPC = 1 << 9;
    public static final int DATADOG = 1 << 10;
    public static final int KAFKA = 1 << 11;
    public static final int JERSEY = 1 << 12;
    public static final int COROUTINES = 1 << 13;
    public static final int OBSERVATION = 1 << 14;
    /** Counts of a stripe: one for each source. */
    private static final int COUNTS = 16;
    /** Threads count in different stripes, mostly. */
    private static final int STRIPES = 16;

    /** Failures to create the sink after which there is none. */
    private static final int MAX_FAILURES = 4;

    private static final String[] NONE = {};

    private static final AtomicLongArray counts = new AtomicLongArray(STRIPES * COUNTS);
    /** The sources that a recording wants and that did not fail. */
    private static volatile int on;
    /** The sources that were ever on: what they have set may be there still. */
    private static volatile int used;
    /** Names of attributes that sources may set, those of earlier recordings too. */
    private static volatile String[] names = NONE;
    /** Sources that failed. */
    private static int failed;

    /** Who wants to know of HTTP requests, in copies of the API. */
    private static final CopyOnWriteArrayList<Consumer<Object[]>> observers =
            new CopyOnWriteArrayList<>();
    /** Who wants to know of scopes, likewise. */
    private static LongSupplier[] scopeObservers = {};
    /** When the first request began, as of {@link System#nanoTime}; 0: there was none. */
    private static volatile long firstRequest;

    private static volatile LabelSink sink;
    private static int failures;
    private static boolean isCreating;

    private Labels() {}

    /** The class file of a class of ours, {@code null} if there is none of this name. */
    static native byte[] classFile(String name);

    /**
     * Tells the agent that the current thread's attribute in a slot has a value that it should have
     * had since a moment of {@link System#nanoTime}, instead of the one with the id before.
     */
    public static native void late(int slot, int before, long sinceNanos);

    /** Tells the agent that a source is off, or that all are if the bit is 0. */
    private static native void report(int source, String why);

    /** Called by the agent only. */
    private static synchronized void turn(int wanted, String attributes) {
        if (!attributes.isEmpty()) {
            Set<String> all = new LinkedHashSet<>(Arrays.asList(names));
            all.addAll(Arrays.asList(attributes.split("\\+")));
            names = all.toArray(NONE);
        }
        on = wanted & ~failed;
        used |= on;
    }

    /** Called by the agent only: the labels that a source has set, by the number of its bit. */
    private static long counted(int number) {
        long sum = 0;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            sum += counts.get(stripe * COUNTS + number);
        }
        return sum;
    }

    /** Called by the agent only: the version of a class's library, {@code null} if unknown. */
    private static String version(Class<?> type) {
        try {
            String version = type.getPackage().getImplementationVersion();
            ModuleDescriptor module = type.getModule().getDescriptor();
            return version != null || module == null
                    ? version
                    : module.rawVersion().orElse(null);
        } catch (RuntimeException | LinkageError unknown) {
            return null;
        }
    }

    public static boolean isOn(int source) {
        return (on & source) != 0;
    }

    /**
     * Whether the source was ever on. One that is off now takes away what it has set as soon as
     * that would have changed: the next recording must not see it.
     */
    public static boolean isUsed(int source) {
        return (used & source) != 0;
    }

    /** Opens the scope of a request. Returns what {@link #close} takes. */
    public static Object open(int source, String operation) {
        LabelSink s = isOn(source) ? sink(source) : null;
        if (s != null && firstRequest == 0 && source != OBSERVATION) {
            firstRequest = System.nanoTime();
        }
        try {
            return s == null ? null : s.open(operation);
        } catch (Throwable failure) {
            failed(source, failure);
            return null;
        }
    }

    /** Whether the current thread has an operation. */
    public static boolean hasOperation(int source) {
        LabelSink s = sink;
        try {
            return s != null && s.hasOperation();
        } catch (Throwable failure) {
            failed(source, failure);
            return true;
        }
    }

    /** Ends it; {@code null} is no scope. */
    public static void close(int source, Object scope) {
        if (scope != null) {
            try {
                ((AutoCloseable) scope).close();
            } catch (Throwable failure) {
                failed(source, failure);
            }
        }
    }

    /** Ends the scope of an HTTP request that was answered with this status, 0 if not known. */
    public static void close(int source, Object scope, int status) {
        if (scope != null && !observers.isEmpty()) {
            try {
                publish(sink.request(scope, status));
            } catch (Throwable failure) {
                failed(source, failure);
            }
        }
        close(source, scope);
    }

    private static void publish(Object[] request) {
        if (request != null) {
            observers.forEach(observer -> observer.accept(request));
        }
    }

    /**
     * Reports each HTTP request that ends to an observer, or no longer. It gets the operation,
     * begin and end as of {@link System#nanoTime}, the status, the attributes by name, and how many
     * samples were taken of the thread.
     */
    public static void observe(Consumer<Object[]> observer, boolean on) {
        observers.remove(observer);
        if (on) {
            observers.add(observer);
        }
    }

    /**
     * Reports each scope that closes to an observer, or no longer. It is an interface to a copy of
     * the API that has none in common with this class: it tells the allocated bytes of the current
     * thread; as a {@link java.util.function.LongUnaryOperator} its CPU time at a moment; as a
     * {@link Consumer} it gets what the API's {@code ScopeListener.closed} does, in this order.
     */
    public static synchronized void observeScopes(LongSupplier observer, boolean on) {
        Stream<LongSupplier> others = Stream.of(scopeObservers).filter(known -> known != observer);
        Stream<LongSupplier> added = on ? Stream.of(observer) : Stream.empty();
        scopeObservers = Stream.concat(others, added).toArray(LongSupplier[]::new);
        if (sink != null) {
            sink.observeScopes(scopeObservers);
        }
    }

    /** When the first request began, as of {@link System#nanoTime}; 0: there was none. */
    public static long firstRequest() {
        return firstRequest;
    }

    /** The labels of the current thread, for {@link #resume}; {@code null}: it has none. */
    public static Object capture(int source) {
        LabelSink s = sink;
        try {
            return s == null ? null : s.capture();
        } catch (Throwable failure) {
            failed(source, failure);
            return null;
        }
    }

    /** Gives the current thread captured labels. Returns what {@link #close} takes. */
    public static Object resume(int source, Object labels) {
        LabelSink s = sink;
        try {
            return s == null ? null : s.resume(labels);
        } catch (Throwable failure) {
            failed(source, failure);
            return null;
        }
    }

    /** The task with the labels of the current thread, or as it is. */
    public static Runnable carry(int source, Runnable task) {
        LabelSink s = sink;
        try {
            return s == null ? task : s.carry(task);
        } catch (Throwable failure) {
            failed(source, failure);
            return task;
        }
    }

    /** The operation of the current thread's request is known better now. */
    public static void refine(int source, String operation) {
        LabelSink s = isOn(source) ? sink(source) : null;
        if (s != null) {
            try {
                s.refine(operation);
            } catch (Throwable failure) {
                failed(source, failure);
            }
        }
    }

    /** The current thread works for this span; {@code null} twice: for none. */
    public static void span(int source, String traceId, String spanId) {
        boolean isOn = isOn(source);
        LabelSink s = sink(source);
        if (s != null) {
            try {
                s.span(isOn ? traceId : null, isOn ? spanId : null);
            } catch (Throwable failure) {
                failed(source, failure);
            }
        }
    }

    /** Sets or removes ({@code null}) an attribute of the current thread, if it is wanted. */
    public static void put(int source, String name, String value) {
        LabelSink s = isWanted(name) ? sink(source) : null;
        if (s != null) {
            try {
                s.put(name, isOn(source) ? value : null);
            } catch (Throwable failure) {
                failed(source, failure);
            }
        }
    }

    /** Sets or removes all wanted attributes; {@code values} may be {@code null}. */
    public static void putAll(int source, Map<?, ?> values) {
        try {
            for (String name : names) {
                put(source, name, values == null ? null : text(values.get(name)));
            }
        } catch (Throwable ofTheMap) {
            failed(source, ofTheMap);
        }
    }

    /** Sets the wanted attributes that are in {@code values}. */
    public static void addAll(int source, Map<?, ?> values) {
        try {
            for (String name : names) {
                if (values.containsKey(name)) {
                    put(source, name, text(values.get(name)));
                }
            }
        } catch (Throwable ofTheMap) {
            failed(source, ofTheMap);
        }
    }

    private static String text(Object value) {
        return value instanceof String ? (String) value : null;
    }

    private static boolean isWanted(String name) {
        for (String wanted : names) {
            if (wanted.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** A source does not do what it should: unless for want of memory or stack, it is off. */
    public static void failed(int source, Throwable failure) {
        if (failure instanceof VirtualMachineError || failure instanceof ThreadDeath) {
            return;
        }
        synchronized (Labels.class) {
            if ((failed & source) != 0) {
                return;
            }
            failed |= source;
            on &= ~source;
        }
        tell(source, failure);
    }

    private static void tell(int source, Throwable failure) {
        try {
            report(source, failure.toString());
        } catch (Throwable notNow) {
            // It is off all the same.
        }
    }

    /** {@code null}: there is nothing to set, and nothing was set. */
    private static LabelSink sink(int source) {
        LabelSink known = sink;
        if (known == null && isOn(source)) {
            known = create();
        }
        if (known != null && isOn(source)) {
            int stripe = System.identityHashCode(Thread.currentThread()) % STRIPES;
            counts.getAndIncrement(stripe * COUNTS + Integer.numberOfTrailingZeros(source));
        }
        return known;
    }

    /** The API has a loader of its own: a copy that the application has is another one. */
    private static synchronized LabelSink create() {
        if (sink != null || isCreating || failures >= MAX_FAILURES) {
            return sink;
        }
        isCreating = true;
        try {
            Class<?> type = Class.forName("io.ctxagent.ContextSink", true, new LabelLoader());
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            LabelSink created = (LabelSink) constructor.newInstance();
            created.observeScopes(scopeObservers);
            sink = created;
        } catch (VirtualMachineError | UnsatisfiedLinkError notNow) {
            // The next call tries again.
        } catch (Throwable failure) {
            if (++failures == MAX_FAILURES) {
                tell(0, failure);
            }
        } finally {
            isCreating = false;
        }
        return sink;
    }
}
