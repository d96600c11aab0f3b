package io.ctxagent.internal.block;

import io.ctxagent.internal.intern.AttributeEntry;

/**
 * The opening of a scope without raw values. Small methods: one of more than 325 bytes of code is
 * never inlined.
 */
public final class ScopeOpen {
    private ScopeOpen() {
    }

    /** Publishes the first {@code count} of eight entries for the scope with this serial. */
    public static void publish(long block, int serial, boolean filtering, int count, long e0,
            long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        int number = Slab.opened(serial);
        try {
            // Before the words: a serial that is used up does no harm, one given twice would.
            Slab.putNext(block, serial);
            if (count == 1 && !filtering) {
                Slab.publishWord(block, number, e0 >>> 32, AttributeEntry.word(e0, serial));
            } else {
                Slab.begin(block, number);
                Slab.putEntries(block, count, serial, e0, e1, e2, e3, e4, e5, e6, e7);
                if (filtering) {
                    Slab.putEventMask(block, EventFilter.mask(block));
                }
                Slab.end(block, number);
            }
        } catch (StackOverflowError interpreted) {
            // The words that were written are the scope's; whoever gets it closes it.
        }
    }
}
