package io.ctxagent.internal.observe;

import io.ctxagent.internal.block.ContextCopy;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.AttributeTexts;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Some closed scopes as numbers: an entry of each is made only if somebody looks at it. One thread
 * adds, at a time; another one may take what was added, in the meantime.
 */
final class ScopeRecords {
    /** As few as cost next to nothing for each: the thread that adds keeps the room of all. */
    static final int CAPACITY = 128;

    private static final int START = 0;
    private static final int LENGTH = 1;
    private static final int ALLOCATED = 2;
    private static final int CPU = 3;
    /** Slot of its name, and samples in the high half. */
    private static final int NAME = 4;

    private static final int IDS = 5;
    private static final int WORDS = 9;

    private static final VarHandle SIZE;

    static {
        try {
            SIZE = MethodHandles.lookup().findVarHandle(ScopeRecords.class, "size", int.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Number of the type of the entries. */
    final int type;
    /** Where the thread went on when these were full. */
    volatile ScopeRecords next;

    private final long[] words = new long[CAPACITY * WORDS];
    /** The raw areas of those that have any; {@code null} if none has. */
    private byte[][] raw;

    /** Written by who adds. */
    private int size;

    ScopeRecords(int type) {
        this.type = type;
    }

    /** For who adds. */
    boolean isFull() {
        return size == CAPACITY;
    }

    /** The number of those that may be taken. */
    int added() {
        return (int) SIZE.getAcquire(this);
    }

    /** Adds one, see {@link ObserverHub#publishScope}. There is room. */
    void add(
            long block,
            int slots,
            int samples,
            long startNanos,
            long durationNanos,
            long allocatedBytes,
            long cpuNanos) {
        long[] w = words;
        int index = size;
        int at = index * WORDS;
        w[at + START] = startNanos;
        w[at + LENGTH] = durationNanos;
        w[at + ALLOCATED] = allocatedBytes;
        w[at + CPU] = cpuNanos;
        w[at + NAME] = Integer.numberOfTrailingZeros(slots) | (long) samples << Integer.SIZE;
        w[at + IDS] = Slab.ids(block, 0);
        w[at + IDS + 1] = Slab.ids(block, 1);
        w[at + IDS + 2] = Slab.ids(block, 2);
        w[at + IDS + 3] = Slab.ids(block, 3);
        if (Slab.rawUsed(block) != 0) {
            addRaw(index, ContextCopy.raw(block));
        }
        // Pairs with the acquire load of who takes them.
        SIZE.setRelease(this, index + 1);
    }

    private void addRaw(int index, byte[] area) {
        if (raw == null) {
            raw = new byte[CAPACITY][];
        }
        raw[index] = area;
    }

    /** Makes the entry of one that was added. */
    ObservedScope entry(int index) {
        long[] w = words;
        int at = index * WORDS;
        return new ObservedScope(
                type,
                AttributeTexts.name((int) w[at + NAME]),
                w[at + START],
                w[at + LENGTH],
                (int) (w[at + NAME] >> Integer.SIZE),
                w[at + ALLOCATED],
                w[at + CPU],
                new ContextCopy(
                        w[at + IDS],
                        w[at + IDS + 1],
                        w[at + IDS + 2],
                        w[at + IDS + 3],
                        raw == null ? null : raw[index]));
    }
}
