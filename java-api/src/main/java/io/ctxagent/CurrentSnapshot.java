package io.ctxagent;

import io.ctxagent.internal.propagation.ContextSnapshot;
import io.ctxagent.internal.propagation.SnapshotSource;

/** The context of the thread that hands a task to an executor. */
final class CurrentSnapshot implements SnapshotSource {
    @Override
    public ContextSnapshot capture() {
        return ContextSupport.isOn() ? RecordingContext.snapshot() : null;
    }
}
