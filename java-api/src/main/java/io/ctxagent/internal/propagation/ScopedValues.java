package io.ctxagent.internal.propagation;

import io.ctxagent.internal.agent.Headroom;
import io.ctxagent.internal.agent.Rethrow;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Objects;

/** {@code java.lang.ScopedValue}, which is final in 25; this API is compiled for 17. */
public final class ScopedValues {
    /** Made when first used, for {@link Handles} to copy. */
    private static volatile ScopedValues found;

    /** The class, or {@code null} before 25, when it was a preview. */
    private final Class<?> type = type();

    private final MethodHandle where = type == null ? null : where(type);
    private final MethodHandle run = type == null ? null : run(type);
    private final MethodHandle orElse = type == null ? null : orElse(type);

    private ScopedValues() {}

    /**
     * Constants, so that the compiler sees through them. Nothing that can fail, see {@link
     * ContextSupport}.
     */
    private static final class Handles {
        static final MethodHandle WHERE = found.where;
        static final MethodHandle RUN = found.run;
        static final MethodHandle OR_ELSE = found.orElse;

        static void initialise() {}
    }

    /** Runs {@code task} with {@code scopedValue} bound to {@code value}. */
    public static void run(Object scopedValue, Object value, Runnable task) {
        check(scopedValue);
        try {
            Object carrier = (Object) Handles.WHERE.invokeExact(scopedValue, value);
            Handles.RUN.invokeExact(carrier, task);
        } catch (Throwable ofTheTask) {
            throw Rethrow.unchecked(ofTheTask);
        }
    }

    /**
     * What {@code scopedValue} is bound to, or a value of no meaning that is no {@link
     * ContextType}.
     */
    public static Object get(Object scopedValue) {
        check(scopedValue);
        try {
            // ScopedValue.orElse refuses null.
            return (Object) Handles.OR_ELSE.invokeExact(scopedValue, (Object) "unbound");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void check(Object scopedValue) {
        Objects.requireNonNull(scopedValue, "the scoped value is null");
        Class<?> type = find().type;
        if (type == null || !type.isInstance(scopedValue)) {
            throw new IllegalArgumentException(
                    "expected a java.lang.ScopedValue (25 and later), found a "
                            + scopedValue.getClass().getName());
        }
    }

    private static ScopedValues find() {
        ScopedValues f = found;
        return f != null ? f : findNow();
    }

    private static ScopedValues findNow() {
        ScopedValues f = new ScopedValues();
        Headroom.requireStack();
        if (found == null) {
            // By several threads, perhaps: all find the same.
            found = f;
        }
        Handles.initialise();
        return found;
    }

    private static Class<?> type() {
        try {
            return Runtime.version().feature() < 25 ? null : Class.forName("java.lang.ScopedValue");
        } catch (ClassNotFoundException renamed) {
            return null;
        }
    }

    private static MethodHandle where(Class<?> type) {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(type, "where", MethodType.methodType(carrier(), type, Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Object.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle run(Class<?> type) {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(
                            carrier(), "run", MethodType.methodType(void.class, Runnable.class))
                    .asType(MethodType.methodType(void.class, Object.class, Runnable.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static MethodHandle orElse(Class<?> type) {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(type, "orElse", MethodType.methodType(Object.class, Object.class))
                    .asType(MethodType.methodType(Object.class, Object.class, Object.class));
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static Class<?> carrier() throws ClassNotFoundException {
        return Class.forName("java.lang.ScopedValue$Carrier");
    }
}
