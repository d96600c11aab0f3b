package io.ctxagent;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What misuse leaves behind until it is repaired: scopes closed by another thread, for their owner to end; and scopes
 * that ended with an outer one, so that a late close of theirs ends nothing. Bounded; never on the hot path.
 */
final class Repairs {
    private static final int MOST_NOTES = 1_024;
    private static final int MOST_BLOCKS = 4_096;
    private static final int MOST_RANGES = 16;

    /** By key of the owner. */
    private static final Map<Long, Note> NOTES = new HashMap<>();
    /** By block: serials that ended with an outer scope, as ranges, from in the low half, to in the high half. */
    private static final Map<Long, long[]> ENDED = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, long[]> eldest) {
            return size() > MOST_BLOCKS;
        }
    };
    /** A note was not taken, so a mark without a note may mean anything. */
    private static boolean lost;

    private Repairs() {
    }

    /** Asks the owner of {@code note}'s scope to end it. Called by another thread. */
    static void closeByOwner(Note note) {
        synchronized (NOTES) {
            Note before = NOTES.get(note.owner);
            if (before == null && NOTES.size() >= MOST_NOTES) {
                lost = true;
            } else if (before == null || before.block != note.block || before.serial - note.serial > 0) {
                // The outer one of two: the inner ends with it.
                NOTES.put(note.owner, note);
            }
        }
        // The note is there before the mark: an owner that sees the mark finds the note.
        Slab.markForeignClose(note.block);
        if (Slab.owner(note.block) != note.owner) {
            take(note.owner);
        }
    }

    /** Ends what other threads closed. Called by the owner of {@code block}. */
    static void repair(long block, long owner) {
        Slab.clearForeignClose(block);
        Note note = take(owner);
        int top = Slab.top(block);
        if (top == 0) {
            return;
        }
        if (note == null) {
            if (lost) {
                Scope.restore(block, Slab.fresh(block), top, Slab.rawTop(block), 0, 0, 0, 0);
            }
            return;
        }
        boolean open = note.block == block && top - note.serial >= 0 && !hasEnded(block, note.serial);
        if (open) {
            Scope.restore(block, Slab.closed(note.serial), note.outer, note.rawTop, note.ids0, note.ids1, note.ids2, note.ids3);
            end(block, note.serial + 1, top);
        }
    }

    private static Note take(long owner) {
        synchronized (NOTES) {
            return NOTES.remove(owner);
        }
    }

    /** The scopes with serials {@code from} to {@code to} ended with an outer one. */
    static void end(long block, int from, int to) {
        if (to - from < 0) {
            return;
        }
        synchronized (ENDED) {
            long[] before = ENDED.get(block);
            int kept = before == null ? 0 : Math.min(before.length, MOST_RANGES - 1);
            long[] ranges = new long[kept + 1];
            ranges[0] = (from & 0xffff_ffffL) | (long) to << 32;
            if (kept > 0) {
                System.arraycopy(before, 0, ranges, 1, kept);
            }
            ENDED.put(block, ranges);
        }
    }

    static boolean hasEnded(long block, int serial) {
        synchronized (ENDED) {
            long[] ranges = ENDED.get(block);
            if (ranges != null) {
                for (long range : ranges) {
                    if (serial - (int) range >= 0 && (int) (range >> 32) - serial >= 0) {
                        return true;
                    }
                }
            }
            return false;
        }
    }

    /** A scope to be ended by its owner, and what it restores. */
    static final class Note {
        final long owner;
        final long block;
        final int serial;
        final int outer;
        final int rawTop;
        final long ids0;
        final long ids1;
        final long ids2;
        final long ids3;

        Note(long owner, long block, int serial, int outer, int rawTop, long ids0, long ids1, long ids2, long ids3) {
            this.owner = owner;
            this.block = block;
            this.serial = serial;
            this.outer = outer;
            this.rawTop = rawTop;
            this.ids0 = ids0;
            this.ids1 = ids1;
            this.ids2 = ids2;
            this.ids3 = ids3;
        }
    }
}
