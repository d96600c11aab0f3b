package io.ctxagent;

import io.ctxagent.internal.Bridge;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Registers {@linkplain ContextType context types}. All types together, and the keys in use, have eight attributes.
 *
 * @since 0.1
 */
public final class ContextTypes {
    private static final ConcurrentHashMap<Class<?>, Shape> SHAPES = new ConcurrentHashMap<>();

    private ContextTypes() {
    }

    /**
     * Registers a type: its attributes take their places in the recording. All of them or none: if they do not all fit,
     * no place is taken.
     *
     * <p>Threads: any. Cost: reflection, once. Without the agent: the type is checked and remembered, and takes its places when it is
     * first set after the agent was loaded.
     *
     * @param type a class with String fields, not {@code null}
     * @return whether its attributes will be recorded; {@code false} if there is no room for them, or no agent
     * @throws IllegalArgumentException if the class has no field that is an attribute, a field of another type, a field that
     *         cannot be read because its package is not open to this module, or a name that {@link RecordingContextKey#forName} refuses
     */
    public static boolean register(Class<? extends ContextType> type) {
        Objects.requireNonNull(type, "the context type is null");
        Shape shape = SHAPES.get(type);
        if (shape == null) {
            Shape made = new Shape(type);
            shape = SHAPES.putIfAbsent(type, made);
            shape = shape == null ? made : shape;
        }
        return Bridge.active() && shape.reserve();
    }

    static RecordingContext set(ContextType values) {
        RecordingContext.Builder builder = RecordingContext.builder();
        Shape shape = Bridge.active() ? SHAPES.get(values.getClass()) : null;
        if (shape != null && shape.reserve()) {
            shape.addTo(builder, values);
        }
        return builder.build();
    }

    /** The attributes of a type. */
    private static final class Shape {
        private final RecordingContextKey[] keys;
        private final MethodHandle[] getters;
        private volatile boolean reserved;

        Shape(Class<?> type) {
            List<RecordingContextKey> found = new ArrayList<>();
            List<MethodHandle> reads = new ArrayList<>();
            for (Class<?> c = type; c != ContextType.class; c = c.getSuperclass()) {
                for (Field field : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers()) && !field.isSynthetic()) {
                        found.add(RecordingContextKey.forName(nameOf(field)));
                        reads.add(getter(field));
                    }
                }
            }
            if (found.isEmpty()) {
                throw new IllegalArgumentException("context type " + type.getName() + " has no field that is an attribute");
            }
            if (found.stream().distinct().count() != found.size()) {
                throw new IllegalArgumentException("context type " + type.getName() + " has two attributes of one name: " + found);
            }
            keys = found.toArray(new RecordingContextKey[0]);
            getters = reads.toArray(new MethodHandle[0]);
        }

        boolean reserve() {
            if (!reserved) {
                reserved = RecordingContextKey.reserve(keys);
            }
            return reserved;
        }

        void addTo(RecordingContext.Builder builder, ContextType values) {
            for (int i = 0; i < keys.length; i++) {
                builder.where(keys[i], read(getters[i], values));
            }
        }

        private static String read(MethodHandle getter, ContextType values) {
            try {
                return (String) getter.invokeExact(values);
            } catch (Error e) {
                throw e;
            } catch (Throwable impossible) {
                throw new AssertionError(impossible);
            }
        }

        private static MethodHandle getter(Field field) {
            if (field.getType() != String.class) {
                throw new IllegalArgumentException("field " + field.getDeclaringClass().getName() + "." + field.getName() + " is a "
                        + field.getType().getName() + "; attributes are Strings (make the field transient if it is none)");
            }
            if (!field.trySetAccessible()) {
                throw new IllegalArgumentException("field " + field.getDeclaringClass().getName() + "." + field.getName()
                        + " cannot be read: open its package to module io.ctxagent, or make the class and the field public");
            }
            try {
                return MethodHandles.lookup().unreflectGetter(field)
                        .asType(MethodType.methodType(String.class, ContextType.class));
            } catch (IllegalAccessException impossible) {
                throw new AssertionError(impossible);
            }
        }

        /** By name and reflection: a VM without module jdk.jfr has no such annotation, and then fields name themselves. */
        private static String nameOf(Field field) {
            for (Annotation annotation : field.getAnnotations()) {
                if (annotation.annotationType().getName().equals("jdk.jfr.Name")) {
                    try {
                        return (String) annotation.annotationType().getMethod("value").invoke(annotation);
                    } catch (ReflectiveOperationException impossible) {
                        throw new AssertionError(impossible);
                    }
                }
            }
            return field.getName();
        }
    }
}
