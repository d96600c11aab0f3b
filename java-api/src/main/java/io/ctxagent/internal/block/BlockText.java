package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/**
 * The values in a block as text: for events of the application, and for debugging. Not on the hot
 * path.
 */
public final class BlockText {
    private BlockText() {}

    /** All attributes, {@code name=value, name=value}; {@code null} if there is none. */
    public static String all(long block) {
        StringJoiner text = new StringJoiner(", ");
        for (int slot = 0; block != Slab.NONE && slot < BlockLayout.SLOTS; slot++) {
            int id = Slab.id(block, slot);
            if (id != 0) {
                BoundKey key = RecentValues.keyOf(slot);
                text.add((key != null ? key.name() : "slot " + slot) + "=" + text(block, key, id));
            }
        }
        return text.length() == 0 ? null : text.toString();
    }

    /** All attributes, by name; not to be changed, and empty if there is none. */
    public static Map<String, String> map(long block) {
        Map<String, String> all = new LinkedHashMap<>();
        for (int slot = 0; block != Slab.NONE && slot < BlockLayout.SLOTS; slot++) {
            String value = value(block, slot);
            BoundKey key = value == null ? null : RecentValues.keyOf(slot);
            if (key != null) {
                all.put(key.name(), value);
            }
        }
        return all.isEmpty() ? Map.of() : Collections.unmodifiableMap(all);
    }

    /** The value in a slot, or {@code null}. {@code slot}: negative if the attribute has none. */
    public static String value(long block, int slot) {
        int id = block == Slab.NONE || slot < 0 ? 0 : Slab.id(block, slot);
        return id == 0 ? null : text(block, RecentValues.keyOf(slot), id);
    }

    private static String text(long block, BoundKey key, int id) {
        if (id == BlockLayout.OVERFLOW_ID) {
            return "(other)";
        }
        if (RawArea.isRaw(id)) {
            return RawArea.text(block, id);
        }
        return key != null ? key.valueOf(id) : "#" + id;
    }
}
