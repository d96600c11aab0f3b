package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.Origin;
import io.ctxagent.internal.block.Slab;
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

    /** Whether it is that of a block, and comes from there. */
    private boolean isOf(long block, long owner, long scope, int since) {
        return raw == null
                && Slab.rawUsed(block) == 0
                && ids0 == Slab.ids(block, 0)
                && ids1 == Slab.ids(block, 1)
                && ids2 == Slab.ids(block, 2)
                && ids3 == Slab.ids(block, 3)
                && originOwner == owner
                && originScope == scope
                && closedSince == since;
    }

    @Override
    public ContextActivation activateExactly() {
        return new CarriedScope(this, EventFilter.prepare());
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
            boolean isCarried = Origin.isCarried(block);
            long owner = isCarried ? Origin.owner(block) : key;
            long scope = isCarried ? Origin.scope(block) : Origin.oldest(block);
            int since = isCarried ? Origin.closedSince(block) : 0;
            int place = Slab.index(block) % PLACES;
            CarriedContext context = last[place];
            if (context == null || !context.isOf(block, owner, scope, since)) {
                context = new CarriedContext(owner, scope, since);
                last[place] = context;
            }
            return context;
        }
    }

    private static final class CarriedScope extends SnapshotScope {
        static void initialise() {}

        private final boolean hasOrigin;
        private final long outerCarried;
        private final long outerOwner;
        private final long outerScope;

        CarriedScope(CarriedContext context, boolean filtering) {
            super(context, true, filtering);
            long b = block;
            hasOrigin = b != Slab.NONE && context.originScope != 0;
            outerCarried = hasOrigin ? Origin.carried(b) : 0;
            outerOwner = hasOrigin ? Origin.owner(b) : 0;
            outerScope = hasOrigin ? Origin.scope(b) : 0;
            if (hasOrigin) {
                long carried = Integer.toUnsignedLong(serial) | (long) context.closedSince << 32;
                Origin.put(b, carried, context.originOwner, context.originScope);
            }
        }

        @Override
        public void close() {
            // While the block is this thread's: without a value it may be given back.
            if (hasOrigin && Slab.isOf(block, owner)) {
                Origin.put(block, outerCarried, outerOwner, outerScope);
            }
            end();
        }
    }
}
