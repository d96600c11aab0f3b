package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;

/**
 * Names of attributes by slot and texts of values by id, those of other copies of the API among
 * them: for people, events and entries, not on the hot path. The agent is asked, and its answer
 * kept as long as there is room; racy, as neither ever changes.
 */
public final class AttributeTexts {
    private static final int TABLE = 512;

    /** Made when first used, so that no initialiser can fail. */
    private static String[] names;
    /** Direct-mapped. */
    private static Value[] values;

    private AttributeTexts() {}

    private static final class Value {
        final int id;
        final String text;

        Value(int id, String text) {
            this.id = id;
            this.text = text;
        }
    }

    /** The name of the attribute in a slot; not {@code null}. */
    public static String name(int slot) {
        String[] known = names;
        if (known == null) {
            known = new String[BlockLayout.SLOTS];
            names = known;
        }
        String name = known[slot];
        if (name == null) {
            name = Bridge.agent().attribute(slot);
            known[slot] = name;
        }
        return name != null ? name : "slot " + slot;
    }

    /** The text of a value of the agent's dictionary; not {@code null}. */
    public static String value(int id) {
        Value[] known = values;
        if (known == null) {
            known = new Value[TABLE];
            values = known;
        }
        Value value = known[id & TABLE - 1];
        if (value == null || value.id != id) {
            String text = Bridge.agent().value(id);
            if (text == null) {
                return "#" + id;
            }
            value = new Value(id, text);
            known[id & TABLE - 1] = value;
        }
        return value.text;
    }
}
