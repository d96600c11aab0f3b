package io.ctxagent.internal.block;

import static io.ctxagent.internal.agent.BlockLayout.CARRIED;
import static io.ctxagent.internal.agent.BlockLayout.ORIGIN_OWNER;
import static io.ctxagent.internal.agent.BlockLayout.ORIGIN_SCOPE;
import static io.ctxagent.internal.agent.BlockLayout.SLOTS;

import io.ctxagent.internal.agent.Memory;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * The scope that a carried context comes from: the oldest one that was open where it was captured.
 * A task hands that of its own context on to the tasks that it makes. Once the scope is closed, the
 * agent ends what is carried of it (option {@code detach}).
 *
 * <p>A block has the origin of the task that its thread runs, in three words. The agent reads them
 * at any time, and notes in the first since when the origin is closed.
 */
public final class Origin {
    private Origin() {}

    /** Has the VM initialise the classes: here, not where a task is made or runs. */
    public static void initialise() {
        Saved.initialise();
    }

    /**
     * The serial of the scope by which a task got its context, 0 = none, and above it the second of
     * the clock since which the origin is closed, 0 = it is open.
     */
    public static long carried(long block) {
        return Memory.getLong(block, CARRIED);
    }

    /** The key of the origin's thread. */
    public static long owner(long block) {
        return Memory.getLong(block, ORIGIN_OWNER);
    }

    /** The origin's serial, and above it one of its slots. */
    public static long scope(long block) {
        return Memory.getLong(block, ORIGIN_SCOPE);
    }

    /** What a block has. */
    public static final class Saved {
        private final long carried;
        private final long owner;
        private final long scope;

        private static void initialise() {}

        public Saved(long block) {
            carried = carried(block);
            owner = owner(block);
            scope = scope(block);
        }
    }

    /** The task has run. {@code outer}: what the block had before, {@code null} for nothing. */
    public static void putBack(long block, long key, Saved outer) {
        // Else the block was given back, and can be another thread's.
        if (Slab.isOf(block, key)) {
            if (outer == null) {
                Memory.putLong(block, CARRIED, 0);
            } else {
                put(block, outer.carried, outer.owner, outer.scope);
            }
        }
    }

    /** The thread runs a task with a carried context. */
    public static void put(long block, long carried, long owner, long scope) {
        Memory.putLong(block, CARRIED, 0);
        VarHandle.storeStoreFence();
        Memory.putLong(block, ORIGIN_OWNER, owner);
        Memory.putLong(block, ORIGIN_SCOPE, scope);
        VarHandle.storeStoreFence();
        Memory.putLong(block, CARRIED, carried);
    }

    /** Whether a value in the block is that of a task. */
    public static boolean isCarried(long block) {
        int serial = (int) carried(block);
        boolean any = false;
        for (int slot = 0; slot < SLOTS; slot++) {
            any |= stampIn(block, slot) == serial;
        }
        return any && serial != 0;
    }

    /** The oldest scope in the block, as {@link #scope} has it; 0 = none. */
    public static long oldest(long block) {
        int next = Slab.nextSerial(block);
        int age = 0;
        long oldest = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            int stamp = stampIn(block, slot);
            if (stamp != 0 && Integer.compareUnsigned(next - stamp, age) > 0) {
                age = next - stamp;
                oldest = (long) slot << 32 | Integer.toUnsignedLong(stamp);
            }
        }
        return oldest;
    }

    /** The second since which the origin of the task in the block is closed, 0 = it is open. */
    public static int closedSince(long block) {
        int known = (int) (carried(block) >>> 32);
        if (known != 0 || isOpen(owner(block), scope(block))) {
            return known;
        }
        return Math.max(1, (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime()));
    }

    private static boolean isOpen(long owner, long scope) {
        long block = Slab.find(owner);
        return block != Slab.NONE && isIn(block, scope);
    }

    /** Whether this scope of the block's thread is open. */
    public static boolean isIn(long block, long scope) {
        return stampIn(block, (int) (scope >>> 32)) == (int) scope;
    }

    private static int stampIn(long block, int slot) {
        return Slab.stamp(Slab.wordIn(block, slot) & ~Slab.COVERS_ENDED);
    }
}
