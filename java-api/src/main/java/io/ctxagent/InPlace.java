package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.intern.AttributeEntry;

/** Changes one attribute of the current context in place, without a scope. Only while the agent is there. */
final class InPlace {
    private InPlace() {
    }

    static void put(RecordingContextKey key, String value) {
        long entry = key.entry(value);
        if (entry == AttributeEntry.NONE) {
            return;
        }
        // Asked before the block is looked up, as in a scope.
        boolean filtering = Filters.inUse();
        long thread = CurrentThread.key();
        // Removing needs no block where there is none.
        long at = (int) entry == 0 && Slab.find(thread) == Slab.NONE ? Slab.NONE : Scope.prepare(thread);
        if (at != Slab.NONE) {
            put(at, entry, value, filtering);
        }
    }

    private static void put(long at, long entry, String value, boolean filtering) {
        int id = (int) entry;
        int raw = Slab.rawTop(at);
        boolean bottom = Slab.top(at) == 0;
        if (id == AttributeEntry.TO_RAW) {
            if (bottom && !Raw.fits(value, raw)) {
                raw = closeGaps(at, entry);
            }
            id = Raw.write(at, raw, value);
        }
        boolean leavesGap = bottom && Raw.isRaw(Slab.idAt(at, entry));
        int number = Slab.fresh(at);
        Slab.begin(at, number);
        Slab.putEntry(at, AttributeEntry.withId(entry, id));
        Slab.putRawTop(at, leavesGap ? Raw.compact(at) : raw + Raw.length(id));
        if (filtering) {
            Slab.putEventMask(at, Filters.mask(at));
        }
        Slab.end(at, number);
        if (id == 0) {
            Scope.releaseIfEmpty(at);
        }
    }

    /**
     * Takes the value of {@code entry}'s attribute out and moves the other raw values together: at depth 0 no scope remembers where they lay.
     * Returns the new raw top.
     */
    private static int closeGaps(long at, long entry) {
        int number = Slab.fresh(at);
        Slab.begin(at, number);
        Slab.putEntry(at, AttributeEntry.withId(entry, 0));
        int raw = Raw.compact(at);
        Slab.putRawTop(at, raw);
        Slab.end(at, number);
        return raw;
    }
}
