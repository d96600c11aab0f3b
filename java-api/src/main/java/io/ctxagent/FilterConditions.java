package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.EventBits;
import io.ctxagent.internal.block.EventCondition;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.intern.ValueIds;
import java.util.List;

/** The filter that the application set, for {@link EventFilter} to evaluate. */
final class FilterConditions implements EventFilter.Conditions {
    /** {@code null}: all events are recorded. */
    final RecordingContextFilter filter;

    FilterConditions(RecordingContextFilter filter) {
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

    private static EventCondition resolve(
            int bit, List<RecordingContextFilter.Condition> conditions) {
        EventCondition resolved = new EventCondition(bit, conditions.size());
        for (int i = 0; i < conditions.size(); i++) {
            RecordingContextFilter.Condition c = conditions.get(i);
            int slot = c.key == null ? -1 : c.key.slot();
            int id = c.value == null ? 0
                    : slot < 0 ? ValueIds.TO_RAW : RecentValues.idOf(c.key.place(), c.value);
            resolved.set(i, c.kind, slot, id, c.value);
        }
        return resolved;
    }

    @Override
    public void announce() {
        if (ContextSupport.isOn()) {
            Bridge.agent().filterWithoutContext(maskWithoutContext(filter));
        }
    }

    static int maskWithoutContext(RecordingContextFilter filter) {
        int mask = Slab.ALL_EVENTS;
        for (int i = 0; filter != null && i < EventBits.COUNT; i++) {
            for (RecordingContextFilter.Condition c : filter.conditionsOf(EventBits.name(i))) {
                if (c.kind != EventCondition.NO_CONTEXT) {
                    mask &= ~EventBits.bit(i);
                }
            }
        }
        return mask;
    }
}
