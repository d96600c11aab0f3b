package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.SlotPlace;
import io.ctxagent.internal.intern.BoundKey;
import io.ctxagent.internal.intern.RecentValues;

/**
 * Changes one attribute of the current context without a scope: from then on the value in the slot
 * belongs to no scope. Only while the agent is there.
 */
public final class InPlaceUpdate {
    private InPlaceUpdate() {}

    /** Writes a value into the slot that lies at {@code place}. */
    public static void put(int place, String value) {
        // Before the block is looked up, as in a scope.
        int id = RecentValues.idOf(place, value);
        boolean extra = ExtraWork.any();
        long key = CurrentThread.key();
        long block = Slab.preferred(key);
        if (!Slab.isReady(block, key)) {
            // Removing needs no block where there is none.
            block = id == 0 && Slab.find(key) == Slab.NONE
                    ? Slab.NONE
                    : CurrentBlock.forWriting(key);
            if (block == Slab.NONE) {
                return;
            }
        }
        if (!extra && id >= 0 && (int) Slab.word(block, place) >= 0) {
            Slab.publishWord(block, Slab.fresh(block), place, Slab.word(id, 0));
        } else {
            put(CompilerRules.KEEP_CALL, block, place, id, value);
        }
        if (id == 0) {
            BlockContents.releaseIfEmpty(block);
        }
    }

    /**
     * Writes two raw values at once, so that no sample has one without the other; {@code null}
     * twice removes both.
     */
    public static void putRaw(int place, String value, int otherPlace, String other) {
        boolean filtering = EventFilter.prepare();
        long key = CurrentThread.key();
        boolean isRemoval = value == null && other == null;
        if (isRemoval && Slab.find(key) == Slab.NONE) {
            return;
        }
        long block = CurrentBlock.forWriting(key);
        if (block == Slab.NONE) {
            return;
        }
        Frames.put(block, SlotPlace.bits(place | otherPlace));
        long free = bytesToFree(block, place) | bytesToFree(block, otherPlace);
        long used = Slab.rawUsed(block);
        int id = write(block, used, value);
        int otherId = write(block, used | RawArea.bytesOf(id), other);
        long written = RawArea.bytesOf(id) | RawArea.bytesOf(otherId);
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putWord(block, place, Slab.word(id, 0));
        Slab.putWord(block, otherPlace, Slab.word(otherId, 0));
        Slab.putRawUsed(block, used & ~free | written);
        end(block, number, filtering);
        if (isRemoval) {
            BlockContents.releaseIfEmpty(block);
        }
    }

    private static int write(long block, long used, String value) {
        return value == null ? 0 : RawArea.write(block, used, value);
    }

    /** The bytes of the value at a place, if it is no scope's. */
    private static long bytesToFree(long block, int place) {
        long word = Slab.word(block, place);
        return Slab.stamp(word) == 0 ? RawArea.bytesOf((int) word) : 0;
    }

    /**
     * Replaces the value of the scope that set the slot at {@code place}; the scope's end takes the
     * new one away. Nothing happens if no scope did, or if the value is not interned.
     *
     * @return the id of the value that was there; 0 if nothing happened
     */
    public static int refine(int place, String value) {
        int id = RecentValues.idOf(place, value);
        boolean filtering = EventFilter.prepare();
        long block = CurrentBlock.forReading(CurrentThread.key());
        if (id <= 0 || block == Slab.NONE) {
            return 0;
        }
        long before = Slab.word(block, place);
        if ((int) before <= 0 || Slab.stamp(before) == 0) {
            return 0;
        }
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putWord(block, place, Slab.word(id, Slab.stamp(before)));
        end(block, number, filtering);
        return (int) before;
    }

    /** For raw values, new or old, and where there is extra work. */
    private static void put(int callsLeft, long block, int place, int id, String value) {
        if (callsLeft > 0) {
            put(callsLeft - 1, block, place, id, value);
            return;
        }
        boolean filtering = EventFilter.prepare();
        Frames.put(block, SlotPlace.bits(place));
        int written = id;
        if (id == BoundKey.TO_RAW) {
            if (!RawArea.fits(value, Slab.rawUsed(block))) {
                publish(block, place, 0, filtering);
                RawScope.makeRoom(block);
            }
            written = RawArea.write(block, Slab.rawUsed(block), value);
        }
        publish(block, place, written, filtering);
    }

    /** Publishes a value, and frees the bytes of the one before if it was no scope's. */
    private static void publish(long block, int place, int id, boolean filtering) {
        long used = Slab.rawUsed(block) & ~bytesToFree(block, place);
        int number = Slab.fresh(block);
        Slab.begin(block, number);
        Slab.putWord(block, place, Slab.word(id, 0));
        Slab.putRawUsed(block, used | RawArea.bytesOf(id));
        end(block, number, filtering);
    }

    private static void end(long block, int number, boolean filtering) {
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }
}
