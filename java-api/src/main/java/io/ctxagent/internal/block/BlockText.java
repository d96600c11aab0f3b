package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.intern.AttributeTexts;
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
                text.add(AttributeTexts.name(slot) + "=" + text(block, id));
            }
        }
        return text.length() == 0 ? null : text.toString();
    }

    /** The value in a slot, or {@code null}. {@code slot}: negative if the attribute has none. */
    public static String value(long block, int slot) {
        int id = block == Slab.NONE || slot < 0 ? 0 : Slab.id(block, slot);
        return id == 0 ? null : text(block, id);
    }

    private static String text(long block, int id) {
        boolean isRaw = RawArea.isRaw(id);
        byte[] raw = isRaw ? RawArea.copy(block, RawArea.offset(id) + RawArea.length(id)) : null;
        return text(raw, id);
    }

    /** The value of an id; {@code raw}: the raw area, as far as the value needs it. */
    static String text(byte[] raw, int id) {
        if (id == BlockLayout.OVERFLOW_ID) {
            return "(other)";
        }
        if (RawArea.isRaw(id)) {
            return RawArea.text(raw, id);
        }
        return AttributeTexts.value(id);
    }
}
