package io.ctxagent.internal.block;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * By block, the serials of scopes that ended with an outer one, so that a late close of theirs ends
 * nothing. Bounded; what is forgotten is known by its highest serial. Serials wrap around, so they
 * are compared by their difference. Guarded by the instance.
 */
final class EndedScopes {
    private static final int MAX_BLOCKS = 4_096;
    private static final int MAX_RANGES = 16;
    private static final int PIECE_BITS = 10;

    private final Map<Long, Ranges> byBlock = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Ranges> eldest) {
            if (size() <= MAX_BLOCKS) {
                return false;
            }
            forget(eldest.getKey(), eldest.getValue().highest());
            return true;
        }
    };
    /**
     * By place of the block the highest serial that was forgotten, 0 = none; in pieces that are
     * made when first used.
     */
    private final int[][] forgotten;

    EndedScopes(int blocks) {
        forgotten = new int[(blocks >> PIECE_BITS) + 1][];
    }

    /** The scopes with serials {@code from} to {@code to} ended. */
    synchronized void add(long block, int from, int to) {
        int dropped = ranges(block).add(from, to);
        if (dropped != 0) {
            forget(block, dropped);
        }
    }

    /** All scopes up to serial {@code to} ended. */
    synchronized void addAll(long block, int to) {
        ranges(block).addAll(to);
        if (forgotten(block) != 0) {
            setForgotten(block, 0);
        }
    }

    /** Whether the scope is known to have ended; {@code next} is the serial of the next scope. */
    synchronized boolean has(long block, int serial, int next) {
        Ranges ranges = byBlock.get(block);
        return ranges != null && ranges.has(serial, next);
    }

    /** Whether it may have been forgotten that the scope ended. */
    synchronized boolean mayHaveForgotten(long block, int serial) {
        int highest = forgotten(block);
        return highest != 0 && serial - highest <= 0;
    }

    private Ranges ranges(long block) {
        Ranges ranges = byBlock.get(block);
        if (ranges == null) {
            ranges = new Ranges();
            byBlock.put(block, ranges);
        }
        return ranges;
    }

    private int forgotten(long block) {
        int place = Slab.index(block);
        int[] piece = forgotten[place >> PIECE_BITS];
        return piece == null ? 0 : piece[place & (1 << PIECE_BITS) - 1];
    }

    private void forget(long block, int serial) {
        int before = forgotten(block);
        if (serial != 0 && (before == 0 || serial - before > 0)) {
            setForgotten(block, serial);
        }
    }

    private void setForgotten(long block, int serial) {
        int place = Slab.index(block);
        if (forgotten[place >> PIECE_BITS] == null) {
            forgotten[place >> PIECE_BITS] = new int[1 << PIECE_BITS];
        }
        forgotten[place >> PIECE_BITS][place & (1 << PIECE_BITS) - 1] = serial;
    }

    /** The serials of one block. */
    private static final class Ranges {
        /** From in the low half, to in the high half; the newest first. */
        private long[] ranges = {};
        /** Whether all scopes ended at some time, and the highest serial by then. */
        private boolean hasAll;
        private int allTo;

        /** Returns the highest serial of the range that is dropped for it, or 0. */
        int add(int from, int to) {
            int kept = Math.min(ranges.length, MAX_RANGES - 1);
            int dropped = kept < ranges.length ? (int) (ranges[kept] >> 32) : 0;
            long[] longer = new long[kept + 1];
            longer[0] = (from & 0xffff_ffffL) | (long) to << 32;
            System.arraycopy(ranges, 0, longer, 1, kept);
            ranges = longer;
            return dropped;
        }

        void addAll(int to) {
            hasAll = true;
            allTo = to;
            ranges = new long[0];
        }

        /** Half of all serials after {@link #allTo}, a new scope's would equal an old one's. */
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
}
