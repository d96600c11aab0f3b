package io.ctxagent.internal.intern;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The values of one key and their ids: a direct-mapped table in front of a bounded map in front of
 * the agent's dictionary. Values are immutable, so the table needs no lock: a thread that sees an
 * old one asks the map.
 */
public final class ValueIds {
    private static final int TABLE = 512;
    /**
     * Places for the distinct values of one key. A key with more is not one to group by; it must
     * not fill the dictionary, which all keys share.
     */
    private static final int MAX_PLACES = 16_384;
    /**
     * A value takes one place, and one more for each so many bytes: the dictionary is bounded by
     * both as well.
     */
    private static final int PLACE_BYTES = 64;
    /** Look-ups over which the hits of a full key are judged. */
    private static final int WINDOW = 4_096;

    private static final int CUT = 1;
    private static final int REPLACED = 2;

    private final InternedValue[] table = new InternedValue[TABLE];

    private final ConcurrentHashMap<String, InternedValue> known = new ConcurrentHashMap<>();
    private final AtomicInteger places = new AtomicInteger();
    /** No new value is interned. */
    private volatile boolean full;
    /** All values are written raw. Racy: a value more or less in the dictionary does not matter. */
    private boolean raw;
    // Racy on purpose: a rough rate is enough.
    private int fullHits;
    private int fullMisses;

    /**
     * Drops the interned values: all are written raw from now on. {@code slot}: negative if none.
     */
    public void demote(int slot) {
        if (!raw) {
            full = true;
            known.clear();
            raw = true;
            if (slot >= 0) {
                RecentValues.forget(slot);
            }
        }
    }

    /**
     * The id of a value that is not among the {@link RecentValues}, {@link BoundKey#TO_RAW} if it
     * is not interned, 0 for {@code null}.
     */
    public int idOf(int slot, String value) {
        if (value == null) {
            return 0;
        }
        if (raw) {
            return BoundKey.TO_RAW;
        }
        if (value.length() > BlockLayout.VALUE_LIMIT) {
            return idOfTooLong(slot, value);
        }
        int hash = value.hashCode();
        InternedValue v = table[(hash ^ hash >>> 9) & TABLE - 1];
        if (v == null || !v.is(value)) {
            return idOfUncached(slot, value, hash);
        }
        if (v.value == value && v.repairs == 0 && !full) {
            RecentValues.keep(slot, v);
        }
        return hit(v);
    }

    private int hit(InternedValue v) {
        if (v.repairs != 0) {
            count(v.repairs);
        }
        if (full) {
            fullHits++;
        }
        return v.id;
    }

    private int idOfUncached(int slot, String value, int hash) {
        InternedValue v = known.get(value);
        if (v == null) {
            v = intern(slot, value);
            if (v == null) {
                return miss(slot);
            }
        }
        table[(hash ^ hash >>> 9) & TABLE - 1] = v;
        if (v.repairs == 0 && !full) {
            RecentValues.keep(slot, v);
        }
        return hit(v);
    }

    /** A huge value must not be hashed, nor kept alive: the part that fits stands for it. */
    private int idOfTooLong(int slot, String value) {
        count(CUT);
        return idOf(slot, value.substring(0, Utf8.fitting(value, BlockLayout.VALUE_LIMIT)));
    }

    /** Interns a new value; {@code null} if it was refused. */
    private InternedValue intern(int slot, String value) {
        int end = Utf8.fitting(value, BlockLayout.VALUE_LIMIT);
        int repairs = end < value.length() ? CUT : 0;
        if (!Utf8.wellFormed(value, end)) {
            repairs |= REPLACED;
        }
        if (repairs == 0) {
            return internWellFormed(slot, value);
        }
        // By the repaired form, so that it counts as one of the key's values; the number of strings
        // with the same repaired form has no bound.
        String text = Utf8.repaired(value, end);
        InternedValue repaired = known.get(text);
        if (repaired == null) {
            repaired = internWellFormed(slot, text);
        }
        return repaired == null ? null : new InternedValue(value, slot, repaired.id, repairs);
    }

    private InternedValue internWellFormed(int slot, String value) {
        if (full || places.get() >= MAX_PLACES) {
            setFull(slot);
            return null;
        }
        int id = Bridge.agent().intern(slot, value);
        if (id == 0) {
            Bridge.count(Misuse.VALUE_OTHER);
            setFull(slot);
            return null;
        }
        InternedValue v = new InternedValue(value, slot, id, 0);
        if (known.put(value, v) == null) {
            places.addAndGet(1 + value.getBytes(Utf8.charset()).length / PLACE_BYTES);
        }
        return v;
    }

    /** From now on the hits decide whether the key is demoted: all must be seen here. */
    private void setFull(int slot) {
        full = true;
        RecentValues.forget(slot);
    }

    private int miss(int slot) {
        if (++fullMisses >= WINDOW) {
            if (fullHits < WINDOW / 10) {
                demote(slot);
            }
            fullMisses = 0;
            fullHits = 0;
        }
        return BoundKey.TO_RAW;
    }

    private static void count(int repairs) {
        if ((repairs & CUT) != 0) {
            Bridge.count(Misuse.VALUE_CUT);
        }
        if ((repairs & REPLACED) != 0) {
            Bridge.count(Misuse.TEXT_REPLACED);
        }
    }
}
