package io.ctxagent;

import io.ctxagent.internal.agent.Layout;
import io.ctxagent.internal.intern.AttributeNames;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All keys, by name and by slot. Made at the first use, with the agent or without, and again if
 * memory or stack did not suffice, see {@link ContextSupport}.
 */
final class KeyTable {
    /** Names beyond this number get keys that are not kept, so that names cannot fill the heap. */
    private static final int MAX_NAMES = 1_024;
    private static final int RECENT = 64;

    private static volatile KeyTable instance;

    private final ConcurrentHashMap<String, RecordingContextKey> keys = new ConcurrentHashMap<>();
    /** Direct-mapped front of {@link #keys}; racy, keys are immutable in what counts here. */
    private final RecordingContextKey[] recent = new RecordingContextKey[RECENT];
    private final RecordingContextKey[] bySlot = new RecordingContextKey[Layout.SLOTS];

    private KeyTable() {
    }

    static KeyTable get() {
        KeyTable t = instance;
        return t != null ? t : make();
    }

    private static synchronized KeyTable make() {
        if (instance == null) {
            instance = new KeyTable();
        }
        return instance;
    }

    /** The key with this name; {@code raw}: if it is new, it is raw. */
    RecordingContextKey key(String name, boolean raw) {
        RecordingContextKey key = keys.get(name);
        if (key != null) {
            return key;
        }
        AttributeNames.check(name);
        key = raw ? new RawKey(name) : new InternedKey(name);
        RecordingContextKey before = keys.size() >= MAX_NAMES ? null : keys.putIfAbsent(name, key);
        return before != null ? before : key;
    }

    /** {@link #key} for a name that is used again and again. */
    RecordingContextKey recent(String name) {
        int place = name.hashCode() & RECENT - 1;
        RecordingContextKey key = recent[place];
        if (key != null && key.name().equals(name)) {
            return key;
        }
        key = key(name, false);
        recent[place] = key;
        return key;
    }

    void bind(int slot, RecordingContextKey key) {
        bySlot[slot] = key;
    }

    /** The key that has this slot, or {@code null}. */
    RecordingContextKey inSlot(int slot) {
        return bySlot[slot];
    }
}
