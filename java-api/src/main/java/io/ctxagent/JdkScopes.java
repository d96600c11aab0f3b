package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Exclusive;
import io.ctxagent.internal.block.BlockText;
import io.ctxagent.internal.block.ScopeMirror;
import java.lang.annotation.Annotation;
import java.util.List;
import jdk.jfr.AnnotationElement;
import jdk.jfr.Event;
import jdk.jfr.EventFactory;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.ValueDescriptor;

/**
 * Scopes that a recording has as events of the JDK's own one, if that runs: one for each attribute,
 * whose value the JDK's tools show on all events of the thread meanwhile.
 *
 * <p>They show all such events that are open, whole. So none has an attribute that its scope did
 * not set, or that another scope in it did: of each attribute one event tells at most.
 */
final class JdkScopes implements ScopeMirror {
    /** From it on, tools know such fields. */
    static final int FIRST_RELEASE = 25;

    private static final String CONTEXTUAL = "jdk.jfr.Contextual";

    /**
     * By slot. Made when first used, as this would start the JDK's recorder; racy, as their fields
     * are final.
     */
    private final Attribute[] attributes = new Attribute[BlockLayout.SLOTS];

    private final Exclusive making = new Exclusive();
    /** Guarded by {@link #making}. */
    private boolean isOff;

    @Override
    public Opened opened(int slots) {
        OpenedScope last = null;
        try {
            for (int rest = FlightRecorder.isInitialized() ? slots : 0; rest != 0; ) {
                int slot = Integer.numberOfTrailingZeros(rest);
                Attribute attribute = attribute(slot);
                if (attribute != null && attribute.type.isEnabled()) {
                    last = new OpenedScope(slot, attribute.factory.newEvent(), last);
                }
                rest &= rest - 1;
            }
        } catch (VirtualMachineError | RuntimeException notNow) {
            // Fewer labels in the JDK's recording.
        }
        return last;
    }

    private Attribute attribute(int slot) {
        Attribute known = attributes[slot];
        return known != null ? known : makeAttribute(slot);
    }

    /** Without a lock: the JDK's recorder and loggers have their own. */
    private Attribute makeAttribute(int slot) {
        if (making.enter()) {
            try {
                if (attributes[slot] == null && !isOff) {
                    attributes[slot] = new Attribute(Bridge.agent().attribute(slot), slot);
                }
            } catch (ReflectiveOperationException | RuntimeException | LinkageError refused) {
                isOff = true;
                ContextProviders.warn("the JDK's recording has no scopes: " + refused);
            } finally {
                making.leave();
            }
        }
        return attributes[slot];
    }

    /** The events about one attribute. */
    private static final class Attribute {
        final EventFactory factory;
        final EventType type;

        Attribute(String name, int slot) throws ReflectiveOperationException {
            Class<? extends Annotation> contextual =
                    Class.forName(CONTEXTUAL).asSubclass(Annotation.class);
            // As in recordings of the agent, http_route for http.route.
            String plain = name.replaceAll("[^A-Za-z0-9$]", "_");
            String field = isFieldName(plain) ? plain : "context" + slot;
            // Tools show them as Scope.http_route.
            factory = EventFactory.create(
                    List.of(
                            new AnnotationElement(Name.class, "io.ctxagent." + field + ".Scope"),
                            new AnnotationElement(Label.class, "Scope of " + name),
                            new AnnotationElement(StackTrace.class, false)),
                    List.of(new ValueDescriptor(
                            String.class,
                            field,
                            List.of(
                                    new AnnotationElement(Label.class, name),
                                    new AnnotationElement(contextual)))));
            type = factory.getEventType();
        }

        private static boolean isFieldName(String name) {
            try {
                new ValueDescriptor(String.class, name);
            } catch (IllegalArgumentException keyword) {
                return false;
            }
            return !List.of("startTime", "duration", "eventThread", "stackTrace")
                    .contains(name);
        }
    }

    private static final class OpenedScope implements Opened {
        private final int slot;
        private final Event event;
        private final OpenedScope next;

        OpenedScope(int slot, Event event, OpenedScope next) {
            this.slot = slot;
            this.event = event;
            this.next = next;
            event.begin();
        }

        @Override
        public void closed(long block, int slots) {
            try {
                for (OpenedScope one = this; one != null; one = one.next) {
                    if ((slots & 1 << one.slot) != 0) {
                        one.event.set(0, BlockText.value(block, one.slot));
                        one.event.commit();
                    }
                }
            } catch (VirtualMachineError | RuntimeException notNow) {
                // Fewer labels in the JDK's recording.
            }
        }
    }
}
