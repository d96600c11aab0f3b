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

    private CarriedContext() {
        long key = CurrentThread.key();
        long block = Slab.find(key);
        boolean isCarried = block != Slab.NONE && Origin.isCarried(block);
        if (isCarried) {
            originOwner = Origin.owner(block);
            originScope = Origin.scope(block);
            closedSince = Origin.closedSince(block);
        } else {
            originOwner = key;
            originScope = block == Slab.NONE ? 0 : Origin.oldest(block);
            closedSince = 0;
        }
    }

    @Override
    public ContextActivation activateExactly() {
        return new CarriedScope(this, EventFilter.prepare());
    }

    /** Captures the context of the thread that makes the task. */
    static final class Source implements SnapshotSource {
        /** Has the VM initialise the classes: here, not where a task is made or runs. */
        Source() {
            capture();
            Origin.initialise();
            CarriedScope.initialise();
        }

        @Override
        public ContextSnapshot capture() {
            return new CarriedContext();
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
