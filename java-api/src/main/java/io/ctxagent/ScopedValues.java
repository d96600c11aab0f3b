package io.ctxagent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Objects;

/** {@code java.lang.ScopedValue}, which is final in 25; this API is compiled for 17. */
final class ScopedValues {
    /** The class, or {@code null} before 25, when it was a preview. */
    private static final Class<?> TYPE = type();
    private static final MethodHandle WHERE = TYPE == null ? null : where();
    private static final MethodHandle RUN = TYPE == null ? null : run();
    private static final MethodHandle OR_ELSE = TYPE == null ? null : orElse();

    private ScopedValues() {
    }

    /** Runs {@code task} with {@code scopedValue} bound to {@code value}. */
    static void run(Object scopedValue, Object value, Runnable task) {
        check(scopedValue);
        try {
            Object carrier = (Object) WHERE.invokeExact(scopedValue, value);
            RUN.invokeExact(carrier, task);
        } catch (Throwable ofTheTask) {
            throw Thrown.again(ofTheTask);
        }
    }

    /** What {@code scopedValue} is bound to, or a value of no meaning that is no {@link ContextType}. */
    static Object get(Object scopedValue) {
        check(scopedValue);
        try {
            // ScopedValue.orElse refuses null.
            return (Object) OR_ELSE.invokeExact(scopedValue, (Object) "unbound");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void check(Object scopedValue) {
        Objects.requireNonNull(scopedValue, "the scoped value is null");
        if (TYPE == null || !TYPE.isInstance(scopedValue)) {
            throw new IllegalArgumentException("expected a java.lang.ScopedValue (25 and later), found a " + scopedValue.getClass().getName());
        }
    }

    private static Class<?> type() {
        try {
            return Runtime.version().feature() < 25 ? null : Class.forName("java.lang.ScopedValue");
        } catch (ClassNotFoundException renamed) {
            return null;
        }
    }

    private static MethodHandle where() {
        try {
            return MethodHandles.publicLookup().findStatic(TYPE, "where", MethodType.methodType(carrier(), TYPE, Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Object.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle run() {
        try {
            return MethodHandles.publicLookup().findVirtual(carrier(), "run", MethodType.methodType(void.class, Runnable.class))
                    .asType(MethodType.methodType(void.class, Object.class, Runnable.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle orElse() {
        try {
            return MethodHandles.publicLookup().findVirtual(TYPE, "orElse", MethodType.methodType(Object.class, Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Object.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static Class<?> carrier() throws ClassNotFoundException {
        return Class.forName("java.lang.ScopedValue$Carrier");
    }
}
