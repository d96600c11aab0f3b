package io.ctxagent.internal.block;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Scopes that ended while a later scope had a value in the same slot. The later one saved the value
 * of the ended one and will put it back; so the slot's word gets a mark, which makes that close
 * look here for what to put back instead.
 *
 * <p>Bounded: where there is no place left, the slot is emptied, and no scope puts anything back
 * into it. Never on the hot path.
 */
final class CoveredScopes {
    private static final int MAX_BLOCKS = 4_096;
    private static final int FIRST_SIZE = 8;
    /** Slots of scopes, for each block. */
    private static final int MAX_SIZE = 256;

    // Nothing that can fail, see ContextSupport.
    /** By block. Guarded by the class. */
    private static final Map<Long, CoveredScopes> ALL = Prepared.all;

    private final long owner;
    private int[] slots = new int[FIRST_SIZE];
    private int[] serials = new int[FIRST_SIZE];
    /** What each of them saved. */
    private long[] below = new long[FIRST_SIZE];
    /** The bytes of the raw area to be freed with the last slot of the scope. */
    private long[] rawBytes = new long[FIRST_SIZE];
    /** The bytes of the value below, to be freed if that is not put back. */
    private long[] belowBytes = new long[FIRST_SIZE];
    /** Those to be freed now. */
    private long freed;

    private int count;

    /** Made before this class is initialised, as {@link PreparedBlocks}. */
    static final class Prepared {
        private static Map<Long, CoveredScopes> all;

        private Prepared() {}

        static void make() {
            if (all == null) {
                all = new HashMap<>();
            }
        }
    }

    private CoveredScopes(long owner) {
        this.owner = owner;
    }

    /** Has the VM initialise this class and what it uses: here, not where the stack is short. */
    static synchronized void initialise() {
        long block = Slab.preferred(0);
        CoveredScopes none = new CoveredScopes(Slab.owner(block));
        none.grow();
        none.removeAll(0);
        ALL.put(block, none);
        dropThoseOfEndedThreads();
        freed(block, 0, 0);
    }

    /** Whether a later scope has a value in the slot, of which this is the word. */
    static boolean isCovered(long word, int serial) {
        return Slab.stamp(word) != 0 && !isOf(word, serial);
    }

    /**
     * The word that a slot is to have when the scope ends that has this serial and saved {@code
     * below} there. {@code own}: it is known to be open until now, as the owner of the block closes
     * it and nobody else did. Called by the owner, as all that follows.
     */
    static synchronized long after(long block, int slot, int serial, long below, boolean own) {
        long now = Slab.wordIn(block, slot);
        CoveredScopes ended = ALL.get(block);
        if (isOf(now, serial)) {
            return ended == null ? withoutMark(below) : ended.uncovered(slot, below);
        }
        if (Slab.stamp(now) == 0) {
            // Put or removed since: it is no scope's any more, nor was any below.
            if (ended != null) {
                ended.removeAll(slot);
            }
            return now;
        }
        if (ended == null || ended.owner != Slab.owner(block)) {
            ended = added(block);
        }
        if (ended != null && ended.add(slot, serial, below, own)) {
            return now | Slab.COVERS_ENDED;
        }
        if (ended != null) {
            ended.removeAll(slot);
        }
        return 0;
    }

    /**
     * Of the raw area, the bytes that nobody shows any more, after the slots of the scope with this
     * serial are done. {@code covered} are those of the scope that a later one may show, too: they
     * stay as long as a slot of it is covered.
     */
    static synchronized long freed(long block, int serial, long covered) {
        CoveredScopes ended = ALL.get(block);
        if (ended == null) {
            return covered;
        }
        boolean kept = false;
        for (int i = 0; i < ended.count; i++) {
            if (ended.serials[i] == serial) {
                ended.rawBytes[i] = covered;
                kept = true;
            }
        }
        long all = kept ? ended.freed : ended.freed | covered;
        ended.freed = 0;
        if (ended.count == 0) {
            ALL.remove(block);
        }
        return all;
    }

    /** The bytes of a word that no scope set. */
    static long bytesOfPut(long word) {
        return Slab.stamp(word) == 0 ? RawArea.bytesOf((int) word) : 0;
    }

    private static boolean isOf(long word, int serial) {
        return Slab.stamp(withoutMark(word)) == serial;
    }

    private static long withoutMark(long word) {
        return word & ~Slab.COVERS_ENDED;
    }

    /** {@code null} if there is no place for it. */
    private static CoveredScopes added(long block) {
        try {
            if (ALL.size() >= MAX_BLOCKS) {
                dropThoseOfEndedThreads();
            }
            if (ALL.size() < MAX_BLOCKS || ALL.containsKey(block)) {
                CoveredScopes none = new CoveredScopes(Slab.owner(block));
                ALL.put(block, none);
                return none;
            }
        } catch (OutOfMemoryError full) {
            // As if there was no place.
        }
        return null;
    }

    private static void dropThoseOfEndedThreads() {
        Iterator<Map.Entry<Long, CoveredScopes>> all = ALL.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Long, CoveredScopes> each = all.next();
            if (Slab.owner(each.getKey()) != each.getValue().owner) {
                all.remove();
            }
        }
    }

    /** The word of the innermost scope below that has not ended. */
    private long uncovered(int slot, long saved) {
        long word = withoutMark(saved);
        for (int i = find(slot, word); i >= 0; i = find(slot, word)) {
            word = withoutMark(below[i]);
            remove(i);
        }
        if (Slab.stamp(word) == 0) {
            // No scope lies below: what is left was noted twice.
            removeAll(slot);
        }
        return has(slot) ? word | Slab.COVERS_ENDED : word;
    }

    private boolean add(int slot, int serial, long saved, boolean own) {
        if (find(slot, (long) serial << 32) >= 0) {
            return true;
        }
        if (count == slots.length && !grow()) {
            return false;
        }
        slots[count] = slot;
        serials[count] = serial;
        below[count] = saved;
        rawBytes[count] = 0;
        belowBytes[count] = own ? bytesOfPut(saved) : 0;
        count++;
        return true;
    }

    private boolean grow() {
        int size = 2 * count;
        if (size > MAX_SIZE) {
            return false;
        }
        try {
            int[] moreSlots = Arrays.copyOf(slots, size);
            int[] moreSerials = Arrays.copyOf(serials, size);
            long[] moreBelow = Arrays.copyOf(below, size);
            long[] moreBytes = Arrays.copyOf(rawBytes, size);
            belowBytes = Arrays.copyOf(belowBytes, size);
            rawBytes = moreBytes;
            below = moreBelow;
            slots = moreSlots;
            serials = moreSerials;
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
    }

    private int find(int slot, long word) {
        for (int i = 0; i < count; i++) {
            if (slots[i] == slot && serials[i] == Slab.stamp(word)) {
                return i;
            }
        }
        return -1;
    }

    private boolean has(int slot) {
        for (int i = 0; i < count; i++) {
            if (slots[i] == slot) {
                return true;
            }
        }
        return false;
    }

    private void removeAll(int slot) {
        for (int i = count - 1; i >= 0; i--) {
            if (slots[i] == slot) {
                freed |= belowBytes[i];
                remove(i);
            }
        }
    }

    private void remove(int i) {
        int serial = serials[i];
        long bytes = rawBytes[i];
        count--;
        slots[i] = slots[count];
        serials[i] = serials[count];
        below[i] = below[count];
        rawBytes[i] = rawBytes[count];
        belowBytes[i] = belowBytes[count];
        for (int k = 0; k < count; k++) {
            if (serials[k] == serial) {
                return;
            }
        }
        freed |= bytes;
    }
}
