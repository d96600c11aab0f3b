package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.intern.AttributeTexts;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The values of a block at a moment, as ids: texts are made when somebody asks. Immutable. */
public final class ContextCopy implements Supplier<Map<String, String>> {
    private final long ids0;
    private final long ids1;
    private final long ids2;
    private final long ids3;
    /** A copy of the raw area, or {@code null} if no value lies there. */
    private final byte[] raw;

    /** {@code block}: that of a thread, which is the current one. */
    public ContextCopy(long block) {
        ids0 = Slab.ids(block, 0);
        ids1 = Slab.ids(block, 1);
        ids2 = Slab.ids(block, 2);
        ids3 = Slab.ids(block, 3);
        raw = raw(block);
    }

    /** Of the words of {@link Slab#ids}, and {@link #raw}. */
    public ContextCopy(long ids0, long ids1, long ids2, long ids3, byte[] raw) {
        this.ids0 = ids0;
        this.ids1 = ids1;
        this.ids2 = ids2;
        this.ids3 = ids3;
        this.raw = raw;
    }

    /** A copy of the raw area of a block; {@code null} if no value lies there. */
    public static byte[] raw(long block) {
        long used = Slab.rawUsed(block);
        return used == 0 ? null : RawArea.copy(block, RawArea.top(used));
    }

    /** The attributes by name, not to be changed; empty if there is none. */
    @Override
    public Map<String, String> get() {
        Map<String, String> all = new LinkedHashMap<>();
        for (int slot = 0; slot < BlockLayout.SLOTS; slot++) {
            int id = id(slot);
            if (id != 0) {
                all.put(AttributeTexts.name(slot), BlockText.text(raw, id));
            }
        }
        return all.isEmpty() ? Map.of() : Collections.unmodifiableMap(all);
    }

    private int id(int slot) {
        switch (slot / 2) {
            case 0:
                return half(ids0, slot);
            case 1:
                return half(ids1, slot);
            case 2:
                return half(ids2, slot);
            default:
                return half(ids3, slot);
        }
    }

    private static int half(long pair, int slot) {
        return (int) (slot % 2 == 0 ? pair : pair >> Integer.SIZE);
    }
}
