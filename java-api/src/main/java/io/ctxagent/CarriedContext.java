package io.ctxagent;

import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.propagation.ContextActivation;
import io.ctxagent.internal.propagation.ContextSnapshot;
import io.ctxagent.internal.propagation.SnapshotSource;

/** The context that a task of the JDK carries, see {@code TaskCarrier}. Contexts are on. */
final class CarriedContext extends SnapshotContents {
    private CarriedContext() {}

    @Override
    public ContextActivation activateExactly() {
        return new CarriedScope(this, EventFilter.prepare());
    }

    /** Captures the context of the thread that makes the task. */
    static final class Source implements SnapshotSource {
        /** Has the VM initialise the classes: here, not where a task is made or runs. */
        Source() {
            capture();
            CarriedScope.initialise();
        }

        @Override
        public ContextSnapshot capture() {
            return new CarriedContext();
        }
    }

    private static final class CarriedScope extends SnapshotScope {
        static void initialise() {}

        CarriedScope(SnapshotContents contents, boolean filtering) {
            super(contents, true, filtering);
        }

        @Override
        public void close() {
            end();
        }
    }
}
