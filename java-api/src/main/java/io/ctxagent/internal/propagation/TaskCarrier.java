package io.ctxagent.internal.propagation;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.BlockContents;
import io.ctxagent.internal.block.Slab;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Gives the context of the current thread to a task that this thread hands to the JDK. The agent
 * has the JDK call it with the task and the interface by which the task will be called.
 *
 * <p>It runs inside of the JDK: it takes no lock, loads no class, calls nothing of the application
 * and never throws. Where there is no context it allocates nothing. Used only once contexts are on.
 */
public final class TaskCarrier implements BinaryOperator<Object> {
    private final SnapshotSource source;

    /** A carrier of what {@code source} captures. Loads all classes that it needs. */
    public TaskCarrier(SnapshotSource source) {
        this.source = source;
        ContextTasks.loadClasses();
    }

    /** {@code null}: the thread has no context. The task itself: it is not to have one. */
    @Override
    public Object apply(Object task, Object kind) {
        try {
            if (ContextTasks.unwrapped(task) != task) {
                return task;
            }
            long block = Slab.find(CurrentThread.key());
            if (block == Slab.NONE || !BlockContents.hasValue(block)) {
                return null;
            }
            // A close by another thread would have to be carried out first, which takes a lock.
            return Slab.hasForeignClose(block) ? task : wrapped(task, kind, source.capture());
        } catch (Throwable shortage) {
            return task;
        }
    }

    @SuppressWarnings("unchecked")
    private static Object wrapped(Object task, Object kind, ContextSnapshot snapshot) {
        if (snapshot == null) {
            return task;
        } else if (kind == Runnable.class) {
            return ContextTasks.of((Runnable) task, snapshot);
        } else if (kind == Callable.class) {
            return ContextTasks.of((Callable<Object>) task, snapshot);
        } else if (kind == Supplier.class) {
            return ContextTasks.of((Supplier<Object>) task, snapshot);
        } else if (kind == Function.class) {
            return new ContextTasks.Apply((Function<Object, Object>) task, snapshot);
        } else if (kind == BiFunction.class) {
            return new ContextTasks.Combine((BiFunction<Object, Object, Object>) task, snapshot);
        } else if (kind == Consumer.class) {
            return new ContextTasks.Accept((Consumer<Object>) task, snapshot);
        } else if (kind == BiConsumer.class) {
            return new ContextTasks.AcceptBoth((BiConsumer<Object, Object>) task, snapshot);
        } else if (kind == Thread.class) {
            return new ContextTasks.Stay(snapshot);
        }
        return task;
    }
}
