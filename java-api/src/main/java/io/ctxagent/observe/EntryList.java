package io.ctxagent.observe;

import io.ctxagent.internal.observe.ObservedEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The entries of one call of a callback, by the time at which they began.
 *
 * <p>Threads: any, as it does not change. Without the agent: as with it.
 *
 * @since 0.1
 */
public final class EntryList implements Iterable<Entry> {
    private final List<Entry> entries;
    private final long dropped;

    EntryList(List<ObservedEntry> entries, long dropped) {
        this.entries = sorted(entries);
        this.dropped = dropped;
    }

    static List<Entry> sorted(List<ObservedEntry> entries) {
        List<ObservedEntry> sorted = new ArrayList<>(entries);
        // By differences, as the clock may go round.
        long any = sorted.isEmpty() ? 0 : sorted.get(0).startNanos;
        sorted.sort(Comparator.comparingLong(entry -> entry.startNanos - any));
        return sorted.stream().map(Entry::new).collect(Collectors.toUnmodifiableList());
    }

    /**
     * All entries.
     *
     * @return the entries, not {@code null} and not to be changed
     */
    public List<Entry> getEntries() {
        return entries;
    }

    /**
     * The entries of a name.
     *
     * @param name the name, not {@code null}
     * @return the entries, not {@code null}; empty if there is none
     */
    public List<Entry> getEntriesByName(String name) {
        Objects.requireNonNull(name, "the name is null");
        return only(entry -> entry.name().equals(name));
    }

    /**
     * The entries of a name and a type.
     *
     * @param name the name, not {@code null}
     * @param type the type, not {@code null}
     * @return the entries, not {@code null}; empty if there is none
     */
    public List<Entry> getEntriesByName(String name, EntryType type) {
        Objects.requireNonNull(name, "the name is null");
        Objects.requireNonNull(type, "the type is null");
        return only(entry -> entry.type() == type && entry.name().equals(name));
    }

    /**
     * The entries of a type.
     *
     * @param type the type, not {@code null}
     * @return the entries, not {@code null}; empty if there is none
     */
    public List<Entry> getEntriesByType(EntryType type) {
        Objects.requireNonNull(type, "the type is null");
        return only(entry -> entry.type() == type);
    }

    private List<Entry> only(Predicate<Entry> wanted) {
        return entries.stream().filter(wanted).collect(Collectors.toUnmodifiableList());
    }

    /**
     * Entries since the last call that the observer did not get, as it or the whole VM had too many
     * at a time.
     *
     * @return their number
     */
    public long dropped() {
        return dropped;
    }

    /**
     * All entries, one after the other.
     *
     * @return an iterator that cannot remove, not {@code null}
     */
    @Override
    public Iterator<Entry> iterator() {
        return entries.iterator();
    }
}
