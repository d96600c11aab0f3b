package io.ctxagent.internal.observe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The entries of one type that are kept until somebody clears them, the newest so many. */
public final class Timeline {
    /** Entries that are kept. */
    public static final int CAPACITY = 4_096;

    private final Deque<ObservedEntry> kept = new ArrayDeque<>();
    private final Map<String, ObservedEntry> newest = new HashMap<>();

    /** Keeps an entry; the oldest one goes if there is no room. */
    public synchronized void add(ObservedEntry entry) {
        if (kept.size() >= CAPACITY) {
            ObservedEntry oldest = kept.removeFirst();
            newest.remove(oldest.name, oldest);
        }
        kept.addLast(entry);
        newest.put(entry.name, entry);
    }

    /** The newest entry of a name, or {@code null}. */
    public synchronized ObservedEntry newest(String name) {
        return newest.get(name);
    }

    public synchronized List<ObservedEntry> all() {
        return new ArrayList<>(kept);
    }

    public synchronized void clear() {
        kept.clear();
        newest.clear();
    }

    public synchronized void clear(String name) {
        kept.removeIf(entry -> entry.name.equals(name));
        newest.remove(name);
    }
}
