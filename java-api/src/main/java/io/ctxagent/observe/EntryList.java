package io.ctxagent.observe;

import io.ctxagent.internal.observe.EntryBatch;
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

    EntryList(EntryBatch entries, long dropped) {
        this.entries = new LazyEntries(entries);
        this.dropped = dropped;
    }

    /** Entries by the time at which they began. */
    static List<Entry> sorted(EntryBatch entries) {
        return new LazyEntries(entries);
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
