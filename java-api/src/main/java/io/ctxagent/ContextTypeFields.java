package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** The attributes of a context type: the fields of the class and of those above it. */
final class ContextTypeFields {
    private final String type;
    private final Attribute[] attributes;
    private volatile boolean reserved;

    ContextTypeFields(Class<?> type) {
        this.type = type.getName();
        List<Attribute> found = new ArrayList<>();
        for (Class<?> c = type; c != Object.class; c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())
                        && !Modifier.isTransient(field.getModifiers())
                        && !field.isSynthetic()) {
                    found.add(new Attribute(field));
                }
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "context type " + this.type + " has no field that is an attribute");
        }
        if (found.stream().map(a -> a.key).distinct().count() != found.size()) {
            throw new IllegalArgumentException(
                    "context type " + this.type + " has two attributes of one name: " + found);
        }
        attributes = found.toArray(new Attribute[0]);
    }

    boolean reserve() {
        if (!reserved) {
            RecordingContextKey[] keys = new RecordingContextKey[attributes.length];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = attributes[i].key;
            }
            if (RecordingContextKey.reserve(keys)) {
                for (Attribute a : attributes) {
                    Bridge.agent().describeAttribute(a.key.slot(), a.label, a.description, type);
                }
                reserved = true;
            }
        }
        return reserved;
    }

    void addTo(RecordingContext.Builder builder, Object values) {
        for (Attribute a : attributes) {
            builder.where(a.key, a.read(values));
        }
    }

    /** One field. */
    private static final class Attribute {
        final RecordingContextKey key;
        final String label;
        final String description;
        private final MethodHandle getter;

        Attribute(Field field) {
            String name = text(field, "jdk.jfr.Name");
            key = RecordingContextKey.forName(name.isEmpty() ? field.getName() : name);
            label = text(field, "jdk.jfr.Label");
            description = text(field, "jdk.jfr.Description");
            getter = getter(field);
        }

        String read(Object values) {
            try {
                return (String) getter.invokeExact(values);
            } catch (Error e) {
                throw e;
            } catch (Throwable impossible) {
                throw new AssertionError(impossible);
            }
        }

        @Override
        public String toString() {
            return key.name();
        }

        private static MethodHandle getter(Field field) {
            if (field.getType() != String.class) {
                throw new IllegalArgumentException(
                        "field " + field.getDeclaringClass().getName()
                                + "." + field.getName() + " is a "
                                + field.getType().getName()
                                + "; attributes are Strings (make the field transient if it is"
                                + " none)");
            }
            if (!field.trySetAccessible()) {
                throw new IllegalArgumentException(
                        "field " + field.getDeclaringClass().getName()
                                + "." + field.getName()
                                + " cannot be read: open its package to module io.ctxagent, or"
                                + " make the class and the field public");
            }
            try {
                return MethodHandles.lookup()
                        .unreflectGetter(field)
                        .asType(MethodType.methodType(String.class, Object.class));
            } catch (IllegalAccessException impossible) {
                throw new AssertionError(impossible);
            }
        }

        /**
         * By name and reflection: a VM without module jdk.jfr has no such annotation, and then
         * fields name themselves.
         */
        private static String text(AnnotatedElement element, String annotationType) {
            for (Annotation annotation : element.getAnnotations()) {
                if (annotation.annotationType().getName().equals(annotationType)) {
                    try {
                        return (String)
                                annotation.annotationType().getMethod("value").invoke(annotation);
                    } catch (ReflectiveOperationException impossible) {
                        throw new AssertionError(impossible);
                    }
                }
            }
            return "";
        }
    }
}
