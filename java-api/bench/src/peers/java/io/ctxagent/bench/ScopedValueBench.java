package io.ctxagent.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Scoped values, on 25: by constant method handles, which the compiler inlines like calls, as class
 * files are for 17.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ScopedValueBench {
    private static final Class<?> VALUE = find("java.lang.ScopedValue");
    private static final Class<?> CARRIER = find("java.lang.ScopedValue$Carrier");
    private static final Object[] KEYS = new Object[PeersBench.EIGHT];
    private static final MethodHandle WHERE;
    private static final MethodHandle AND;
    private static final MethodHandle RUN;
    private static final Runnable NOTHING = () -> {};

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            MethodHandle make =
                    lookup.findStatic(VALUE, "newInstance", MethodType.methodType(VALUE));
            for (int i = 0; i < KEYS.length; i++) {
                KEYS[i] = make.invoke();
            }
            WHERE = lookup.findStatic(
                            VALUE, "where", MethodType.methodType(CARRIER, VALUE, Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Object.class));
            AND = lookup.findVirtual(
                            CARRIER, "where", MethodType.methodType(CARRIER, VALUE, Object.class))
                    .asType(MethodType.methodType(
                            Object.class, Object.class, Object.class, Object.class));
            RUN = lookup.findVirtual(
                            CARRIER, "run", MethodType.methodType(void.class, Runnable.class))
                    .asType(MethodType.methodType(void.class, Object.class, Runnable.class));
        } catch (Throwable t) {
            throw new ExceptionInInitializerError(t);
        }
    }

    private static final Object K0 = KEYS[0];
    private static final Object K1 = KEYS[1];
    private static final Object K2 = KEYS[2];
    private static final Object K3 = KEYS[3];
    private static final Object K4 = KEYS[4];
    private static final Object K5 = KEYS[5];
    private static final Object K6 = KEYS[6];
    private static final Object K7 = KEYS[7];

    private static Class<?> find(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException before25) {
            throw new IllegalStateException(name + " is final in 25", before25);
        }
    }

    @Benchmark
    public void scopedValueOne(PeersBench.Values v) throws Throwable {
        RUN.invokeExact((Object) WHERE.invokeExact(K0, (Object) v.v0), NOTHING);
    }

    @Benchmark
    public void scopedValueEight(PeersBench.Values v) throws Throwable {
        Object c = (Object) WHERE.invokeExact(K0, (Object) v.v0);
        c = (Object) AND.invokeExact(c, K1, (Object) v.v1);
        c = (Object) AND.invokeExact(c, K2, (Object) v.v2);
        c = (Object) AND.invokeExact(c, K3, (Object) v.v3);
        c = (Object) AND.invokeExact(c, K4, (Object) v.v4);
        c = (Object) AND.invokeExact(c, K5, (Object) v.v5);
        c = (Object) AND.invokeExact(c, K6, (Object) v.v6);
        c = (Object) AND.invokeExact(c, K7, (Object) v.v7);
        RUN.invokeExact(c, NOTHING);
    }
}
