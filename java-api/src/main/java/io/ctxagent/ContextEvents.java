package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.BlockText;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.Slab;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Event;

/**
 * Commits an application's own events with the context of the current thread, into the JDK's own
 * recording. Which field takes what, {@link ContextAware} says.
 *
 * <p>Threads: any; an event itself belongs to one. Without the agent: events are committed as they
 * are.
 *
 * @since 0.1
 */
public final class ContextEvents {
    /** Made when first used, see {@link ContextSupport}. */
    private static volatile ClassValue<Target[]> targets;

    private ContextEvents() {}

    private static Target[] targetsOf(Class<?> type) {
        ClassValue<Target[]> all = targets;
        return (all != null ? all : makeTargets()).get(type);
    }

    private static ClassValue<Target[]> makeTargets() {
        ClassValue<Target[]> made = new ClassValue<>() {
            @Override
            protected Target[] computeValue(Class<?> type) {
                return targets(type);
            }
        };
        return publish(made);
    }

    private static synchronized ClassValue<Target[]> publish(ClassValue<Target[]> made) {
        if (targets == null) {
            targets = made;
        }
        return targets;
    }

    /**
     * Fills the {@link ContextAware} fields of an event with what the context of the current thread
     * has at this moment, and commits it. An attribute that is not set leaves {@code null}. A field
     * that cannot be written, being static, no String, or in a package that is not open to this
     * module, is left alone; that is logged once.
     *
     * <p>Threads: any. Cost: some nanoseconds for each field if the event is enabled, else that of
     * {@code event.commit()}. Without the agent: the event is committed as it is.
     *
     * @param event the event, not {@code null}
     */
    public static void commit(Event event) {
        if (ContextSupport.isOn() && event.isEnabled()) {
            Target[] targets = targetsOf(event.getClass());
            long block =
                    targets.length == 0 ? Slab.NONE : CurrentBlock.forReading(CurrentThread.key());
            for (Target target : targets) {
                target.fill(event, block);
            }
        }
        event.commit();
    }

    private static Target[] targets(Class<?> type) {
        List<Target> found = new ArrayList<>();
        for (Class<?> c = type; c != Event.class; c = c.getSuperclass()) {
            addAll(found, c);
        }
        return found.toArray(new Target[0]);
    }

    /** Nothing that goes wrong here may keep the application's event from being committed. */
    private static void addAll(List<Target> found, Class<?> type) {
        try {
            for (Field field : type.getDeclaredFields()) {
                ContextAware aware = field.getAnnotation(ContextAware.class);
                if (aware != null) {
                    add(found, field, aware.value());
                }
            }
        } catch (RuntimeException | LinkageError unreadable) {
            // A security manager, or a field of a class that is not there.
            log("the fields of " + type.getName(), unreadable.toString());
        }
    }

    private static void add(List<Target> found, Field field, String attribute) {
        try {
            found.add(new Target(field, attribute.isEmpty() ? field.getName() : attribute));
        } catch (IllegalArgumentException unusable) {
            log(
                    "field " + field.getDeclaringClass().getName() + "." + field.getName(),
                    unusable.getMessage());
        } catch (RuntimeException hidden) {
            log(
                    "field " + field.getDeclaringClass().getName() + "." + field.getName(),
                    hidden.toString());
        }
    }

    private static void log(String where, String why) {
        System.getLogger("io.ctxagent")
                .log(
                        System.Logger.Level.WARNING,
                        "events are committed without the context in " + where + ": " + why);
    }

    /** A field and what goes into it. */
    private static final class Target {
        private final MethodHandle setter;
        /** The attribute, or {@code null} for all. */
        private final RecordingContextKey key;

        Target(Field field, String attribute) {
            if (field.getType() != String.class) {
                throw new IllegalArgumentException(
                        "it is a " + field.getType().getName() + ", not a String");
            }
            if (Modifier.isStatic(field.getModifiers())) {
                throw new IllegalArgumentException("it is static, of no event");
            }
            key = attribute.equals(ContextAware.ALL)
                    ? null
                    : RecordingContextKey.forName(attribute);
            if (!field.trySetAccessible()) {
                throw new IllegalArgumentException("its package is not open to module io.ctxagent");
            }
            try {
                setter = MethodHandles.lookup()
                        .unreflectSetter(field)
                        .asType(MethodType.methodType(void.class, Event.class, String.class));
            } catch (IllegalAccessException isFinal) {
                throw new IllegalArgumentException("it cannot be written", isFinal);
            }
        }

        void fill(Event event, long block) {
            String value =
                    key == null ? BlockText.all(block) : BlockText.value(block, key.slotIfAny());
            try {
                setter.invokeExact(event, value);
            } catch (Error e) {
                throw e;
            } catch (Throwable impossible) {
                throw new AssertionError(impossible);
            }
        }
    }
}
