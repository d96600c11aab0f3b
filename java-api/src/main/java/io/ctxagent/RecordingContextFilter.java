package io.ctxagent;

import io.ctxagent.internal.agent.EventBits;
import io.ctxagent.internal.block.EventCondition;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import jdk.jfr.EventType;

/**
 * Says which events are recorded, by the context they would carry.
 *
 * <pre>{@code
 * RecordingContextFilter.Config.setContextFilter(RecordingContextFilter.Config.createFilter()
 *         .forAllTypes(type -> type.hasContext())
 *         .forType("jdk.ExecutionSample", type -> type.hasEntry(TENANT, "acme"))
 *         .build());
 * }</pre>
 *
 * <p>All conditions of an event type must hold. They are evaluated when a context is installed or
 * put back, and kept as one bit for each event type: a sample costs nothing more. When the filter
 * changes, a thread follows at its next use of {@link RecordingContext}. Events that are left out
 * are counted in the recording, so that shares stay honest.
 *
 * <p>Immutable, may be used by any thread. Without the agent a filter can be made and set, and has
 * no effect until the agent is loaded.
 *
 * @since 0.1
 */
public final class RecordingContextFilter {
    /** Conditions for types that are not named. */
    private final List<Condition> others;

    private final Map<String, List<Condition>> byType;

    private RecordingContextFilter(List<Condition> others, Map<String, List<Condition>> byType) {
        this.others = others;
        this.byType = byType;
    }

    /** Conditions of an event type. */
    List<Condition> conditionsOf(String type) {
        return byType.getOrDefault(type, others);
    }

    /** The event types that may be recorded without a context, a bit each. */
    static int maskWithoutContext(RecordingContextFilter filter) {
        int mask = Slab.ALL_EVENTS;
        for (int i = 0; filter != null && i < EventBits.COUNT; i++) {
            for (Condition c : filter.conditionsOf(EventBits.name(i))) {
                if (c.kind != EventCondition.NO_CONTEXT) {
                    mask &= ~EventBits.bit(i);
                }
            }
        }
        return mask;
    }

    /**
     * The filter in force.
     *
     * @since 0.1
     */
    public static final class Config {
        private Config() {}

        /**
         * Puts a filter in force, in place of the one before.
         *
         * @param filter the filter, or {@code null} to record all events again
         */
        public static void setContextFilter(RecordingContextFilter filter) {
            EventFilter.set(new InForce(filter), ContextSupport.isOn());
        }

        /**
         * Returns the filter in force.
         *
         * @return the filter, or {@code null} if there is none
         */
        public static RecordingContextFilter contextFilter() {
            InForce inForce = (InForce) EventFilter.conditions();
            return inForce == null ? null : inForce.filter;
        }

        /**
         * Begins a filter without conditions.
         *
         * @return a builder, not {@code null}
         */
        public static Builder createFilter() {
            return new Builder();
        }
    }

    /**
     * Collects conditions. Not for use by several threads at once.
     *
     * @since 0.1
     */
    public static final class Builder {
        private final List<Condition> all = new ArrayList<>();
        private final Map<String, List<Condition>> byType = new LinkedHashMap<>();

        private Builder() {}

        /**
         * Adds conditions for all event types, those named before included.
         *
         * @param conditions is called once, now, and what it throws is passed on; not {@code null}
         * @return this builder
         */
        public Builder forAllTypes(Consumer<PerTypeBuilder> conditions) {
            Objects.requireNonNull(conditions, "the conditions are null");
            PerTypeBuilder type = new PerTypeBuilder();
            conditions.accept(type);
            type.addTo(all);
            byType.values().forEach(type::addTo);
            return this;
        }

        /**
         * Adds conditions for one event type.
         *
         * @param type the event type, not {@code null}
         * @param conditions is called once, now, and what it throws is passed on; not {@code null}
         * @return this builder
         * @throws IllegalArgumentException if a filter cannot reach that type, see {@link
         *     #forType(String, Consumer)}
         */
        public Builder forType(EventType type, Consumer<PerTypeBuilder> conditions) {
            Objects.requireNonNull(type, "the event type is null");
            return forType(type.getName(), conditions);
        }

        /**
         * Adds conditions for the event type with the given name.
         *
         * @param type {@code jdk.ExecutionSample} (CPU samples, those in native code included),
         *     {@code profiler.WallClockSample}, {@code jdk.ObjectAllocationSample} or {@code
         *     jdk.JavaMonitorEnter}; not {@code null}
         * @param conditions is called once, now, and what it throws is passed on; not {@code null}
         * @return this builder
         * @throws IllegalArgumentException if it is another type: the agent does not write it, or
         *     not with a context, so no condition can reach it
         */
        public Builder forType(String type, Consumer<PerTypeBuilder> conditions) {
            Objects.requireNonNull(type, "the name of the event type is null");
            Objects.requireNonNull(conditions, "the conditions are null");
            checkReachable(type);
            PerTypeBuilder added = new PerTypeBuilder();
            conditions.accept(added);
            added.addTo(byType.computeIfAbsent(type, t -> new ArrayList<>(all)));
            return this;
        }

        private static void checkReachable(String type) {
            switch (type) {
                case "jdk.ExecutionSample":
                case "profiler.WallClockSample":
                case "jdk.ObjectAllocationSample":
                case "jdk.JavaMonitorEnter":
                    return;
                default:
                    throw new IllegalArgumentException("a filter cannot reach event type '" + type
                            + "' (" + whyUnreachable(type)
                            + "); allowed: jdk.ExecutionSample, profiler.WallClockSample, "
                            + "jdk.ObjectAllocationSample, jdk.JavaMonitorEnter");
            }
        }

        private static String whyUnreachable(String type) {
            switch (type) {
                case "jdk.NativeMethodSample":
                    return "samples in native code are jdk.ExecutionSample";
                case "jdk.ObjectAllocationInNewTLAB":
                case "jdk.ObjectAllocationOutsideTLAB":
                    return "allocations are jdk.ObjectAllocationSample";
                case "jdk.GCPhasePause":
                    return "a pause has no context";
                default:
                    return "the agent does not write it; the JDK's own recorder does not ask the "
                            + "filter";
            }
        }

        /**
         * Returns the filter. The builder may be used further; the filter does not change with it.
         *
         * @return the filter, not {@code null}
         */
        public RecordingContextFilter build() {
            Map<String, List<Condition>> copy = new LinkedHashMap<>();
            byType.forEach((type, conditions) -> copy.put(type, List.copyOf(conditions)));
            return new RecordingContextFilter(List.copyOf(all), copy);
        }
    }

    /**
     * Conditions for one event type; all must hold. Not for use by several threads at once.
     *
     * @since 0.1
     */
    public static final class PerTypeBuilder {
        private final List<Condition> added = new ArrayList<>();
        private boolean reset;

        private PerTypeBuilder() {}

        /**
         * Drops all conditions that were given so far, those of {@link Builder#forAllTypes}
         * included.
         *
         * @return this builder
         */
        public PerTypeBuilder reset() {
            added.clear();
            reset = true;
            return this;
        }

        /**
         * Requires a context with at least one attribute.
         *
         * @return this builder
         */
        public PerTypeBuilder hasContext() {
            added.add(new Condition(EventCondition.CONTEXT, null, null));
            return this;
        }

        /**
         * Requires that there is no context.
         *
         * @return this builder
         */
        public PerTypeBuilder hasNoContext() {
            added.add(new Condition(EventCondition.NO_CONTEXT, null, null));
            return this;
        }

        /**
         * Requires that an attribute has a value.
         *
         * @param key the attribute, not {@code null}; it takes a slot if it has none
         * @return this builder
         */
        public PerTypeBuilder hasKey(RecordingContextKey key) {
            added.add(new Condition(
                    EventCondition.KEY,
                    Objects.requireNonNull(key, "the context key is null"),
                    null));
            return this;
        }

        /**
         * Requires that an attribute has a certain value.
         *
         * @param key the attribute, not {@code null}; it takes a slot if it has none
         * @param value the value, not {@code null}
         * @return this builder
         */
        public PerTypeBuilder hasEntry(RecordingContextKey key, String value) {
            added.add(new Condition(
                    EventCondition.ENTRY,
                    Objects.requireNonNull(key, "the context key is null"),
                    Objects.requireNonNull(value, "the value is null; use hasKey to ask for any")));
            return this;
        }

        private void addTo(List<Condition> conditions) {
            if (reset) {
                conditions.clear();
            }
            conditions.addAll(added);
        }
    }

    /** One condition, as given. */
    static final class Condition {
        final int kind;
        final RecordingContextKey key;
        final String value;

        private Condition(int kind, RecordingContextKey key, String value) {
            this.kind = kind;
            this.key = key;
            this.value = value;
        }
    }

    /** A filter in force, for {@link EventFilter} to evaluate. */
    private static final class InForce implements EventFilter.Conditions {
        /** {@code null}: all events are recorded. */
        final RecordingContextFilter filter;

        InForce(RecordingContextFilter filter) {
            this.filter = filter;
        }

        @Override
        public EventCondition[] resolve() {
            EventCondition[] all = new EventCondition[filter == null ? 0 : EventBits.COUNT];
            for (int i = 0; i < all.length; i++) {
                all[i] = resolve(EventBits.bit(i), filter.conditionsOf(EventBits.name(i)));
            }
            return all;
        }

        private static EventCondition resolve(int bit, List<Condition> conditions) {
            EventCondition resolved = new EventCondition(bit, conditions.size());
            for (int i = 0; i < conditions.size(); i++) {
                Condition c = conditions.get(i);
                int slot = c.key == null ? -1 : c.key.slot();
                int id = c.value == null
                        ? 0
                        : slot < 0 ? BoundKey.TO_RAW : RecentValues.idOf(c.key.place(), c.value);
                resolved.set(i, c.kind, slot, id, c.value);
            }
            return resolved;
        }

        @Override
        public int maskWithoutContext() {
            return RecordingContextFilter.maskWithoutContext(filter);
        }
    }
}
