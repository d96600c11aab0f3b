package jdk.internal.javac;

import java.lang.ref.WeakReference;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the agent has the JDK call where it takes a task: gives the task the context of the calling
 * thread. The agent holds the bytes of this class ({@code agent/src/jvm/TaskEntry.class}, made by
 * {@code make direct-memory}) and defines it in {@code java.base}, beside {@link DirectMemory}.
 *
 * <p>A method for each mechanism and interface, as an object may have several: the hooked parameter
 * says which one is meant. The result has the interface, or is the task itself.
 */
public final class TaskEntry implements Runnable {
    /** The bits of the agent's mechanisms. */
    public static final int FUTURES = 1;

    public static final int COMPLETIONS = 1 << 1;
    public static final int POOLS = 1 << 2;
    public static final int FORK_JOIN = 1 << 3;
    public static final int VIRTUAL = 1 << 4;
    public static final int STRUCTURED = 1 << 5;
    public static final int TIMER = 1 << 6;
    public static final int THREADS = 1 << 7;

    /** Number of the count of objects that tables had no room for. */
    static final int LOST = 8;
    /** Counts of a stripe: one for each mechanism, and of those lost. */
    private static final int COUNTS = 16;
    /** Threads count in different stripes, mostly. */
    private static final int STRIPES = 16;

    /** Tasks by which the JDK continues virtual threads: they work for no request. */
    private static final String SCHEDULER = "java.lang.VirtualThread";

    private static final AtomicLongArray counts = new AtomicLongArray(STRIPES * COUNTS);
    private static final TimerTasks TIMED = new TimerTasks();
    /** By thread, what gives it its context; {@code null} if it is to have none. */
    private static final WeakTable STARTED = new WeakTable();
    /** What a thread does that is to have a context, before it has it. */
    private static final Object START = new Object();

    /** The mechanisms that a recording wants. */
    private static volatile int on;
    /**
     * Of the Java API: from a task and its interface to what is to run instead, {@code null} where
     * there is no context. Weak: the loader of an API that nobody else uses any more goes.
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
        return isOfScheduler(task) ? task : carried(FUTURES, task, Runnable.class);
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

    // ---- forkjoin -------------------------------------------------------------------------------

    public static Object forkJoinRunnable(Object task) {
        return isOfScheduler(task) ? task : carried(FORK_JOIN, task, Runnable.class);
    }

    public static Object forkJoinCallable(Object task) {
        return carried(FORK_JOIN, task, Callable.class);
    }

    // ---- virtual, structured --------------------------------------------------------------------

    /** What a virtual thread is to run. */
    public static Object body(Object task) {
        return hasOwnHook(task) ? task : carried(VIRTUAL, task, Runnable.class);
    }

    /** What a thread for one task is to run. If it is a virtual one, {@link #body} sees it, too. */
    public static Object perTask(Object task) {
        Object carried = hasOwnHook(task) ? task : carriedOrNull(VIRTUAL, task, Runnable.class);
        return carried == null ? task : carried;
    }

    /** Whether another hook gives it a context, or none as it is the worker of a pool. */
    private static boolean hasOwnHook(Object task) {
        return task instanceof AbstractQueuedSynchronizer
                || (on & FUTURES) != 0 && task instanceof FutureTask;
    }

    /** Has a factory make the thread that is to run a subtask. */
    public static Thread newThread(ThreadFactory factory, Runnable subtask) {
        return factory.newThread((Runnable) carried(STRUCTURED, subtask, Runnable.class));
    }

    // ---- timer ----------------------------------------------------------------------------------

    /** A timer gets a task. One that it repeats belongs to no request. */
    public static void timed(Object task, long period) {
        if (period == 0 && task != null) {
            TIMED.note(TIMER, task);
        }
    }

    public static void runTimed(TimerTask task) {
        TIMED.run(task, task);
    }

    private static final class TimerTasks extends TaskTable {
        @Override
        public Object apply(Object task) {
            ((TimerTask) task).run();
            return null;
        }
    }

    // ---- threads --------------------------------------------------------------------------------

    /** A platform thread is started. The JDK's own kinds of threads are workers. */
    public static void started(Object thread) {
        boolean isOfJdk = thread.getClass().getClassLoader() == null;
        boolean isWorker = isOfJdk && thread.getClass() != Thread.class
                || thread instanceof ForkJoinWorkerThread;
        if (!isWorker && !STARTED.has(thread)) {
            Object run = carried(THREADS, START, Thread.class);
            if (run != START) {
                STARTED.put(thread, run);
            }
        }
    }

    /** Starts a worker of a pool, which works for others as well. */
    public static void startWorker(Thread thread) {
        if ((on & THREADS) != 0) {
            STARTED.put(thread, null);
        }
        thread.start();
    }

    /** Called by the agent only, by a thread that begins: it has its context until it ends. */
    private static void begun(Thread thread) {
        Object run = STARTED.take(thread);
        if (run != null) {
            ((Runnable) run).run();
        }
    }

    // ---- all ------------------------------------------------------------------------------------

    private static boolean isOfScheduler(Object task) {
        return task != null
                && task.getClass().getClassLoader() == null
                && task.getClass().getName().startsWith(SCHEDULER);
    }

    /** The task with the context of the current thread; the task itself if it gets none. */
    public static Object carried(int mechanism, Object task, Class<?> kind) {
        Object carried = carriedOrNull(mechanism, task, kind);
        if (carried == null && task != null) {
            BareTasks.count(Integer.numberOfTrailingZeros(mechanism));
        }
        return carried == null ? task : carried;
    }

    /** {@code null}: the thread has no context. */
    private static Object carriedOrNull(int mechanism, Object task, Class<?> kind) {
        WeakReference<BinaryOperator<Object>> known = carrier;
        if ((on & mechanism) == 0 || known == null || task == null) {
            return task;
        }
        BinaryOperator<Object> carrier = known.get();
        Object carried = carrier == null ? task : carrier.apply(task, kind);
        if (carried != null && carried != task) {
            count(Integer.numberOfTrailingZeros(mechanism));
        }
        return carried;
    }

    static void count(int number) {
        int stripe = System.identityHashCode(Thread.currentThread()) % STRIPES;
        counts.getAndIncrement(stripe * COUNTS + number);
    }

    /** Called by the agent only: contexts carried by a mechanism, by the number of its bit. */
    private static long counted(int number) {
        long sum = 0;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            sum += counts.get(stripe * COUNTS + number);
        }
        return sum;
    }

    /** Called by the agent only: tasks without a context. */
    private static long countedBare(int number) {
        return BareTasks.counted(number);
    }

    /** Called by the agent only: where most of them come from, a line each. */
    private static String sites(int number) {
        return BareTasks.sites(number);
    }
}
