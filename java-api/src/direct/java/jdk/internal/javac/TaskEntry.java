package jdk.internal.javac;

import java.lang.ref.WeakReference;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the agent has constructors of the JDK call that take a task: gives the task the context of
 * the calling thread. The agent holds the bytes of this class ({@code
 * agent/src/jvm/TaskEntry.class}, made by {@code make direct-memory}) and defines it in {@code
 * java.base}, beside {@link DirectMemory}.
 *
 * <p>A method for each interface, as an object may have several: the hooked parameter says which
 * one is meant. The result has the interface, or is the task itself.
 */
public final class TaskEntry implements Runnable {
    /** The bits of the agent's mechanisms. */
    private static final int FUTURES = 1;

    private static final int COMPLETIONS = 2;

    /** The mechanisms that a recording wants. */
    private static volatile int on;
    /**
     * Of the Java API: from a task and its interface to what is to run instead. Weak: the loader of
     * an API that nobody else uses any more goes.
     */
    private static volatile WeakReference<BinaryOperator<Object>> carrier;

    /** A task that is to get no context. */
    private final Runnable task;

    private TaskEntry(Runnable task) {
        this.task = task;
    }

    /** Where the hook that takes this off again did not. */
    @Override
    public void run() {
        task.run();
    }

    /** Called by the agent only. */
    private static void use(BinaryOperator<Object> wanted) {
        WeakReference<BinaryOperator<Object>> known = carrier;
        if (known == null || known.get() == null) {
            carrier = new WeakReference<>(wanted);
        }
    }

    /** Called by the agent only. */
    private static void turn(int wanted) {
        on = wanted;
    }

    // ---- futures --------------------------------------------------------------------------------

    /** The task, marked so that {@link #runnable} gives it no context. */
    public static Object bare(Object task) {
        return (on & FUTURES) != 0 && task != null ? new TaskEntry((Runnable) task) : task;
    }

    public static Object runnable(Object task) {
        if (task instanceof TaskEntry) {
            return ((TaskEntry) task).task;
        }
        return carried(FUTURES, task, Runnable.class);
    }

    public static Object callable(Object task) {
        return carried(FUTURES, task, Callable.class);
    }

    // ---- completions ----------------------------------------------------------------------------

    public static Object action(Object task) {
        return carried(COMPLETIONS, task, Runnable.class);
    }

    public static Object supplier(Object task) {
        return carried(COMPLETIONS, task, Supplier.class);
    }

    public static Object function(Object task) {
        return carried(COMPLETIONS, task, Function.class);
    }

    public static Object biFunction(Object task) {
        return carried(COMPLETIONS, task, BiFunction.class);
    }

    public static Object consumer(Object task) {
        return carried(COMPLETIONS, task, Consumer.class);
    }

    public static Object biConsumer(Object task) {
        return carried(COMPLETIONS, task, BiConsumer.class);
    }

    private static Object carried(int mechanism, Object task, Class<?> kind) {
        WeakReference<BinaryOperator<Object>> known = carrier;
        if ((on & mechanism) == 0 || known == null || task == null) {
            return task;
        }
        BinaryOperator<Object> carrier = known.get();
        return carrier == null ? task : carrier.apply(task, kind);
    }
}
