package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.Slab;
import java.util.StringJoiner;

/**
 * The values in a block as text: for events of the application, and for debugging. Not on the hot
 * path.
 */
final class ContextText {
    private ContextText() {
    }

    /** All attributes, {@code name=value, name=value}; {@code null} if there is none. */
    static String all(long block) {
        StringJoiner text = new StringJoiner(", ");
        for (int slot = 0; block != Slab.NONE && slot < BlockLayout.SLOTS; slot++) {
            int id = Slab.id(block, slot);
            if (id != 0) {
                RecordingContextKey key = RecordingContextKey.inSlot(slot);
                text.add((key != null ? key.name() : "slot " + slot) + "=" + text(block, key, id));
            }
        }
        return text.length() == 0 ? null : text.toString();
    }

    /** The value of one attribute, or {@code null}. */
    static String value(long block, RecordingContextKey key) {
        int slot = block == Slab.NONE ? -1 : key.slotIfAny();
        int id = slot < 0 ? 0 : Slab.id(block, slot);
        return id == 0 ? null : text(block, key, id);
    }

    private static String text(long block, RecordingContextKey key, int id) {
        if (id == BlockLayout.OVERFLOW_ID) {
            return "(other)";
        }
        if (RawArea.isRaw(id)) {
            return RawArea.text(block, id);
        }
        return key != null ? key.valueOf(id) : "#" + id;
    }
}
