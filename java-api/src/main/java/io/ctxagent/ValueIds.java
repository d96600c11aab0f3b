package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The values of one key and their ids: a direct-mapped table in front of a bounded map in front of the agent's dictionary.
 * Entries are immutable, so the table needs no lock: a thread that sees an old one looks further.
 */
final class ValueIds {
    /** In place of an id: write the value raw. Neither an id of the dictionary nor one of a raw value. */
    static final int TO_RAW = 0xff00_0000;

    private static final int TABLE = 512;
    /** Places for the distinct values of one key. A key with more is not one to group by; it must not fill the dictionary of all. */
    private static final int MOST_PLACES = 16_384;
    /** A value takes one place, and one more for each so many bytes: the dictionary is bounded by both as well. */
    private static final int PLACE_BYTES = 64;
    /** Look-ups over which the hits of a full key are judged. */
    private static final int WINDOW = 4_096;

    private static final int CUT = 1;
    private static final int REPAIRED = 2;

    private final Entry[] table = new Entry[TABLE];
    /** Direct-mapped, of the values that were asked for by id; made when the first one is. */
    private Entry[] byId;
    private final ConcurrentHashMap<String, Entry> known = new ConcurrentHashMap<>();
    private final AtomicInteger places = new AtomicInteger();
    /** No new value is interned. */
    private volatile boolean full;
    // Racy on purpose: a rough rate is enough.
    private int fullHits;
    private int fullMisses;

    /** The key is written raw from now on: the values that were interned are not needed any more. */
    void forget() {
        full = true;
        known.clear();
    }

    /** Second look, after {@link InternedKey} compared with the last entry; {@code value} may be {@code null}. */
    int idOf(InternedKey key, String value) {
        if (value == null) {
            return 0;
        }
        if (value.length() > Slab.VALUE_LIMIT) {
            return ofTooLong(key, value);
        }
        int hash = value.hashCode();
        Entry e = table[(hash ^ hash >>> 9) & TABLE - 1];
        if (e == null || !e.is(value)) {
            return ofUncached(key, value, hash);
        }
        if (e.value == value && e.fixes == 0 && !full) {
            key.keep(e, false);
        }
        return hit(e);
    }

    private int hit(Entry e) {
        if (e.fixes != 0) {
            count(e.fixes);
        }
        if (full) {
            fullHits++;
        }
        return e.id;
    }

    private int ofUncached(InternedKey key, String value, int hash) {
        Entry e = known.get(value);
        if (e == null) {
            e = intern(key, value);
            if (e == null) {
                return missed(key);
            }
        }
        table[(hash ^ hash >>> 9) & TABLE - 1] = e;
        if (e.fixes == 0 && !full) {
            key.keep(e, true);
        }
        return hit(e);
    }

    /** A huge value must not be hashed, nor kept alive by an entry: the part that fits stands for it. */
    private int ofTooLong(InternedKey key, String value) {
        count(CUT);
        return idOf(key, value.substring(0, Text.fitting(value, Slab.VALUE_LIMIT)));
    }

    /** The entry of a new value, or {@code null} if it was not taken. */
    private Entry intern(InternedKey key, String value) {
        int end = Text.fitting(value, Slab.VALUE_LIMIT);
        int fixes = end < value.length() ? CUT : 0;
        if (!Text.wellFormed(value, end)) {
            fixes |= REPAIRED;
        }
        if (fixes == 0) {
            return internFaithful(key, value);
        }
        // By the repaired form, so that it counts as one of the key's values; the number of strings with one and the same such form has no bound.
        String text = Text.repaired(value, end);
        Entry faithful = known.get(text);
        if (faithful == null) {
            faithful = internFaithful(key, text);
        }
        return faithful == null ? null : new Entry(value, key.slot(), faithful.id, fixes);
    }

    /** The entry of a new value that needs no repair, or {@code null} if it was not taken. */
    private Entry internFaithful(InternedKey key, String value) {
        if (full || places.get() >= MOST_PLACES) {
            fill(key);
            return null;
        }
        int id = Bridge.agent().intern(key.slot(), value);
        if (id == 0) {
            Bridge.count(Misuse.DICTIONARY_FULL);
            fill(key);
            return null;
        }
        Entry e = new Entry(value, key.slot(), id, 0);
        if (known.put(value, e) == null) {
            places.addAndGet(1 + value.getBytes(Text.utf8()).length / PLACE_BYTES);
        }
        return e;
    }

    /** From now on the hits decide whether this goes on: all must be seen here. */
    private void fill(InternedKey key) {
        full = true;
        key.keepNone();
    }

    private int missed(InternedKey key) {
        if (++fullMisses >= WINDOW) {
            if (fullHits < WINDOW / 10) {
                forget();
                key.demote();
            }
            fullMisses = 0;
            fullHits = 0;
        }
        return TO_RAW;
    }

    private static void count(int fixes) {
        if ((fixes & CUT) != 0) {
            Bridge.count(Misuse.VALUE_CUT);
        }
        if ((fixes & REPAIRED) != 0) {
            Bridge.count(Misuse.INVALID_TEXT);
        }
    }

    /** The value behind an id, or {@code null} if this class never saw it. Slow unless it is asked for again. */
    String valueOf(int id) {
        Entry[] recent = byId;
        if (recent == null) {
            recent = new Entry[TABLE];
            byId = recent;
        }
        Entry e = recent[id & TABLE - 1];
        if (e == null || e.id != id) {
            e = search(id);
            recent[id & TABLE - 1] = e;
        }
        return e == null ? null : e.value;
    }

    private Entry search(int id) {
        for (Entry e : known.values()) {
            if (e.id == id) {
                return e;
            }
        }
        for (Entry e : table) {
            if (e != null && e.id == id) {
                return e;
            }
        }
        return null;
    }

    /** A value as the application gave it, its id, and what had to be repaired in it. */
    static final class Entry {
        final String value;
        final int id;
        /** {@link Slab#entry} of slot and id. */
        final long entry;
        private final int fixes;

        private Entry(String value) {
            this.value = value;
            id = 0;
            entry = RecordingContextKey.NO_ENTRY;
            fixes = 0;
        }

        /** One of a string that no other is. */
        static Entry none() {
            return new Entry(new String("no value yet"));
        }

        Entry(String value, int slot, int id, int fixes) {
            this.value = value;
            this.id = id;
            this.entry = Slab.entry(slot, id);
            this.fixes = fixes;
        }

        boolean is(String other) {
            return value == other || value.equals(other);
        }
    }
}
