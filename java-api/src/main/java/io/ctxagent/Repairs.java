package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What misuse leaves behind until it is repaired: scopes closed by another thread, for their owner to end; and scopes
 * that ended with an outer one, so that a late close of theirs ends nothing. Bounded: what it had to forget it knows by block, up to which serial, and
 * a close of a scope that may have ended ends all scopes of the thread. Never on the hot path.
 */
final class Repairs {
    private static final int MOST_NOTES = 1_024;
    private static final int MOST_BLOCKS = 4_096;
    private static final int MOST_RANGES = 16;

    /** Nothing that can fail, see {@link ContextSupport}. */
    private static final Map<Long, Note> NOTES = Prepared.parts().memos.notes;
    private static final Map<Long, Ended> ENDED = Prepared.parts().memos.ended;
    private static final int[][] FORGOTTEN = Prepared.parts().memos.forgotten;

    private Repairs() {
    }

    /**
     * Has the VM initialise this class and what it uses, {@code Long}'s cache too: where the stack is about to end that would be unusable for all of the
     * application. For the same reason no lambda in this class.
     */
    static void initialise() {
        NOTES.remove(0L);
        mayHaveEnded(Slab.place(0, 0), 0);
    }

    /** Asks the owner of {@code note}'s scope to end it. Called by another thread. */
    static void closeByOwner(Note note) {
        // Mark and note come and go together, see take: an owner that took this note for an earlier one's mark would then find a mark without a note.
        synchronized (NOTES) {
            Slab.markForeignClose(note.block);
            if (Slab.owner(note.block) == note.owner) {
                Note before = NOTES.get(note.owner);
                NOTES.put(note.owner, before == null || before.block != note.block ? note : Note.ofBoth(before, note));
                dropSome();
            }
        }
    }

    /** When there are too many: those whose owner ended and will never ask, else the eldest. A mark without a note is safe, only coarser. */
    private static void dropSome() {
        if (NOTES.size() > MOST_NOTES) {
            Iterator<Note> notes = NOTES.values().iterator();
            while (notes.hasNext()) {
                Note note = notes.next();
                if (Slab.owner(note.block) != note.owner) {
                    notes.remove();
                }
            }
            if (NOTES.size() > MOST_NOTES) {
                NOTES.remove(NOTES.keySet().iterator().next());
            }
        }
    }

    /**
     * Ends what other threads closed, and all scopes after an error tore a change. Called by the owner of {@code block}. A noted scope inside of which
     * the innermost one is not known to lie may have been closed by its owner meanwhile, or not: then all scopes end if {@code now}; else the mark stays
     * until the ones around are closed.
     */
    static void repair(long block, long owner, boolean now) {
        int top = Slab.top(block);
        if (Slab.isTorn(block)) {
            take(block, owner);
            endAll(block);
        } else if (now || top == 0 || isClear(peek(owner), block, top)) {
            Note note = take(block, owner);
            if (top != 0 && !isClear(note, block, top)) {
                endAll(block);
            } else if (top != 0 && note.isOpen(top)) {
                Scope.restore(block, Slab.closed(top), note.outer, note.rawTop, note.ids0, note.ids1, note.ids2, note.ids3);
                end(block, note.serial, note.innermost);
            }
        }
    }

    /** Whether it is known if the noted scope is open. No note: it was dropped, or another copy of this class has it, in another loader. */
    private static boolean isClear(Note note, long block, int top) {
        return note != null && note.block == block && (top - note.innermost <= 0 || hasEnded(block, note.serial));
    }

    private static Note peek(long owner) {
        synchronized (NOTES) {
            return NOTES.get(owner);
        }
    }

    private static Note take(long block, long owner) {
        synchronized (NOTES) {
            Slab.clearForeignClose(block);
            return NOTES.remove(owner);
        }
    }

    /** The scopes with serials {@code from} to {@code to} ended, but the first of them, with an outer one. */
    static void end(long block, int from, int to) {
        synchronized (ENDED) {
            int forgotten = ended(block).add(from, to);
            if (forgotten != 0) {
                Forgotten.add(block, forgotten);
            }
        }
    }

    /** Ends all scopes of a block: which of them are still open is not known, and no context is better than a wrong one. Called by its owner. */
    static void endAll(long block) {
        int last = Slab.nextSerial(block);
        Scope.restore(block, Slab.fresh(block), 0, 0, 0, 0, 0, 0);
        synchronized (ENDED) {
            ended(block).addAll(last);
            Forgotten.clear(block);
        }
        Bridge.count(Misuse.ALL_ENDED);
    }

    static boolean hasEnded(long block, int serial) {
        synchronized (ENDED) {
            Ended ended = ENDED.get(block);
            return ended != null && ended.has(serial, Slab.nextSerial(block));
        }
    }

    /** Whether this scope, which has not {@linkplain #hasEnded ended} as far as is remembered, may have. */
    static boolean mayHaveEnded(long block, int serial) {
        synchronized (ENDED) {
            int forgotten = Forgotten.get(block);
            return forgotten != 0 && serial - forgotten <= 0;
        }
    }

    private static Ended ended(long block) {
        Ended ended = ENDED.get(block);
        if (ended == null) {
            ended = new Ended();
            ENDED.put(block, ended);
        }
        return ended;
    }

    /** What is remembered. */
    static final class Memos {
        /** By key of the owner, the eldest first. */
        private final Map<Long, Note> notes = new LinkedHashMap<>();
        /** By block: what ended with an outer scope. */
        private final Map<Long, Ended> ended = new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, Ended> eldest) {
                if (size() <= MOST_BLOCKS) {
                    return false;
                }
                Forgotten.add(eldest.getKey(), eldest.getValue().highest());
                return true;
            }
        };
        /** Of {@link Forgotten}, by place, in pieces that are made when first used. */
        private final int[][] forgotten;

        Memos(int places) {
            forgotten = new int[(places >> Forgotten.BITS) + 1][];
        }
    }

    /** By block the highest serial of which it was forgotten that it ended; 0 = none. Guarded by {@link #ENDED}. */
    private static final class Forgotten {
        private static final int BITS = 10;

        static int get(long block) {
            int place = Slab.index(block);
            int[] piece = FORGOTTEN[place >> BITS];
            return piece == null ? 0 : piece[place & (1 << BITS) - 1];
        }

        static void add(long block, int serial) {
            int before = get(block);
            if (serial != 0 && (before == 0 || serial - before > 0)) {
                set(block, serial);
            }
        }

        static void clear(long block) {
            if (get(block) != 0) {
                set(block, 0);
            }
        }

        private static void set(long block, int serial) {
            int place = Slab.index(block);
            if (FORGOTTEN[place >> BITS] == null) {
                FORGOTTEN[place >> BITS] = new int[1 << BITS];
            }
            FORGOTTEN[place >> BITS][place & (1 << BITS) - 1] = serial;
        }
    }

    /** The serials of scopes of one block that ended with an outer one. Serials go round, so they are compared by their difference. */
    private static final class Ended {
        /** From in the low half, to in the high half; the newest first. */
        private long[] ranges = {};
        /** Whether all scopes ended at some time, and the highest serial by then. */
        private boolean hasAll;
        private int allTo;

        /** Returns the highest serial of what is forgotten for it, or 0. */
        int add(int from, int to) {
            int kept = Math.min(ranges.length, MOST_RANGES - 1);
            int forgotten = kept < ranges.length ? (int) (ranges[kept] >> 32) : 0;
            long[] longer = new long[kept + 1];
            longer[0] = (from & 0xffff_ffffL) | (long) to << 32;
            System.arraycopy(ranges, 0, longer, 1, kept);
            ranges = longer;
            return forgotten;
        }

        void addAll(int to) {
            hasAll = true;
            allTo = to;
            ranges = new long[0];
        }

        /** {@code next}: the serial that the next scope gets. Half of all numbers after {@link #allTo} a new scope's would look like an old one's. */
        boolean has(int serial, int next) {
            if (hasAll && next - allTo >= 0 && serial - allTo <= 0) {
                return true;
            }
            for (long range : ranges) {
                if (serial - (int) range >= 0 && (int) (range >> 32) - serial >= 0) {
                    return true;
                }
            }
            return false;
        }

        /** 0 if nothing ended: an error came between the two steps of adding it. */
        int highest() {
            if (!hasAll && ranges.length == 0) {
                return 0;
            }
            int highest = hasAll ? allTo : (int) (ranges[0] >> 32);
            for (long range : ranges) {
                int to = (int) (range >> 32);
                highest = to - highest > 0 ? to : highest;
            }
            return highest;
        }
    }

    /** A scope to be ended by its owner, and what it restores; or several, each opened directly inside the one before, and what the outermost restores. */
    static final class Note {
        final long owner;
        final long block;
        final int serial;
        /** Of several the serial of the innermost one, else {@link #serial}. */
        final int innermost;
        final int outer;
        final int rawTop;
        final long ids0;
        final long ids1;
        final long ids2;
        final long ids3;

        Note(long owner, long block, int serial, int outer, int rawTop, long ids0, long ids1, long ids2, long ids3) {
            this(owner, block, serial, serial, outer, rawTop, ids0, ids1, ids2, ids3);
        }

        private Note(long owner, long block, int serial, int innermost, int outer, int rawTop, long ids0, long ids1, long ids2, long ids3) {
            this.owner = owner;
            this.block = block;
            this.serial = serial;
            this.innermost = innermost;
            this.outer = outer;
            this.rawTop = rawTop;
            this.ids0 = ids0;
            this.ids1 = ids1;
            this.ids2 = ids2;
            this.ids3 = ids3;
        }

        /** One note for two of the same block. If they do not adjoin, that of the outer scope, with which the inner one ends. */
        static Note ofBoth(Note one, Note other) {
            Note around = one.serial - other.serial <= 0 ? one : other;
            Note inside = around == one ? other : one;
            return inside.outer != around.innermost ? around
                    : new Note(around.owner, around.block, around.serial, inside.innermost, around.outer, around.rawTop,
                            around.ids0, around.ids1, around.ids2, around.ids3);
        }

        /**
         * Whether the noted scope is open if {@code top} is the innermost open one. Between the noted ones no other was open when the innermost of them was opened: an
         * open one that was opened in between is one of them, and those around it are open, too.
         */
        boolean isOpen(int top) {
            return top - serial >= 0 && top - innermost <= 0;
        }
    }
}
