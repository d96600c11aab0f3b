package io.ctxagent;

/**
 * The attributes that a builder collects, each as an {@linkplain Slab#entry entry}: where its value id lies in a block, and the id.
 *
 * <p>They lie in numbered fields instead of an array, so that the compiler can leave the builder out. For the same reason nothing here may be
 * given away: what is rare, and so may not be inlined, is a static method that gets values and returns one.
 */
abstract class Entries {
    private int size;
    private long entry0;
    private long entry1;
    private long entry2;
    private long entry3;
    private long entry4;
    private long entry5;
    private long entry6;
    private long entry7;
    /** The first value to be written raw, or {@code null}: its id is only known then. Its entry is one of those above, too. */
    String raw;
    long rawEntry;
    /** What does not fit in here, or {@code null}. */
    ExtraEntries extra;

    /** Adds an entry, and the value to be written raw if the entry leaves the id open, else {@code null}. */
    final void add(long entry, String rawValue) {
        int at = size;
        size = at + 1;
        switch (at) {
            case 0:
                entry0 = entry;
                break;
            case 1:
                entry1 = entry;
                break;
            case 2:
                entry2 = entry;
                break;
            case 3:
                entry3 = entry;
                break;
            case 4:
                entry4 = entry;
                break;
            case 5:
                entry5 = entry;
                break;
            case 6:
                entry6 = entry;
                break;
            case 7:
                entry7 = entry;
                break;
            default:
                // A slot occurs twice.
                size = at;
                extra = ExtraEntries.with(extra, entry);
        }
        if (rawValue == null) {
            return;
        }
        if (raw == null) {
            raw = rawValue;
            rawEntry = entry;
        } else {
            extra = ExtraEntries.withRaw(extra, entry, rawValue);
        }
    }

    /** Writes all value ids but those of {@link #extra}. In the sequence. Where a raw value is meant, the id only marks that. */
    final void write(long block) {
        Slab.putEntries(block, size, entry0, entry1, entry2, entry3, entry4, entry5, entry6, entry7);
    }
}
