package io.ctxagent.internal.propagation;

import java.util.concurrent.ThreadFactory;

/** A factory whose threads run with the context of the thread that had them made. */
public final class ContextThreadFactory implements ThreadFactory {
    private final ThreadFactory factory;
    private final SnapshotSource source;

    /** Has {@code factory} make the threads. */
    public ContextThreadFactory(ThreadFactory factory, SnapshotSource source) {
        this.factory = factory;
        this.source = source;
    }

    @Override
    public Thread newThread(Runnable task) {
        ContextSnapshot snapshot = task == null ? null : source.capture();
        return factory.newThread(snapshot == null ? task : ContextTasks.of(task, snapshot));
    }
}
