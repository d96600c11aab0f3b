package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.ExtraWork;
import io.ctxagent.internal.block.Origin;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.block.TimedScope;
import io.ctxagent.internal.propagation.ContextActivation;
import io.ctxagent.internal.propagation.ContextSnapshot;
import io.ctxagent.internal.propagation.SnapshotSource;

/** The context that a task of the JDK carries, see {@code TaskCarrier}. Contexts are on. */
final class CarriedContext extends SnapshotContents {
    private final long originOwner;
    private final long originScope;
    /** See {@link Origin#closedSince}. */
    private final int closedSince;

    /** The context of the current thread, and where it comes from. */
    private CarriedContext(long originOwner, long originScope, int closedSince) {
        this.originOwner = originOwner;
        this.originScope = originScope;
        this.closedSince = closedSince;
    }

    /** That of a task, with the origin of the task's own, or that of the oldest scope. */
    private static CarriedContext of(long block, long key) {
        return Origin.isCarried(block)
                ? new CarriedContext(
                        Origin.owner(block), Origin.scope(block), Origin.closedSince(block))
                : new CarriedContext(key, Origin.oldest(block), 0);
    }

    /** Whether it is still that of a block, and its origin, which is there, is open. */
    private boolean isStillOf(long block, long key) {
        return raw == null
                && Slab.rawUsed(block) == 0
                && ids0 == Slab.ids(block, 0)
                && ids1 == Slab.ids(block, 1)
                && ids2 == Slab.ids(block, 2)
                && ids3 == Slab.ids(block, 3)
                && originOwner == key
                && (int) Origin.carried(block) == 0
                && Origin.isIn(block, originScope);
    }

    @Override
    public ContextActivation activateExactly() {
        return new CarriedScope(this, ExtraWork.kinds());
    }

    /**
     * Captures the context of the thread that makes the task. Tasks that a scope makes one after
     * the other share what is captured.
     */
    static final class Source implements SnapshotSource {
        private static final int PLACES = 4_096;
        /** What threads captured last, by the numbers of their blocks; some share a place. */
        private final CarriedContext[] last = new CarriedContext[PLACES];

        /** Has the VM initialise the classes: here, not where a task is made or runs. */
        Source() {
            new CarriedContext(0, 0, 0);
            Origin.initialise();
            CarriedScope.initialise();
        }

        @Override
        public ContextSnapshot capture() {
            long key = CurrentThread.key();
            long block = Slab.find(key);
            if (block == Slab.NONE) {
                return null;
            }
            int place = Slab.index(block) % PLACES;
            CarriedContext context = last[place];
            if (context == null || !context.isStillOf(block, key)) {
                context = of(block, key);
                last[place] = context;
            }
            return context;
        }
    }

    private static final class CarriedScope extends SnapshotScope {
        static void initialise() {}

        private final boolean hasOrigin;
        /** Of the task around this one; {@code null} if there is none, as mostly. */
        private final Origin.Saved outer;

        CarriedScope(CarriedContext context, int extra) {
            super(context, true, (extra & ExtraWork.FILTER) != 0 && EventFilter.prepare());
            long b = block;
            hasOrigin = b != Slab.NONE && context.originScope != 0;
            outer = hasOrigin && Origin.carried(b) != 0 ? new Origin.Saved(b) : null;
            if (hasOrigin) {
                long carried = Integer.toUnsignedLong(serial) | (long) context.closedSince << 32;
                Origin.put(b, carried, context.originOwner, context.originScope);
            }
            if (extra != 0) {
                watch = TimedScope.opened(watch, block, owner, serial, slots());
            }
        }

        /** So small that it is inlined where a task throws, or the scope would be an object. */
        @Override
        public void close() {
            finish();
        }

        private void finish() {
            unwatch();
            if (hasOrigin) {
                Origin.putBack(block, owner, outer);
            }
            end();
        }
    }
}
