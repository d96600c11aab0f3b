package java.util.concurrent;

import java.util.Collection;
import java.util.List;
import jdk.internal.javac.TaskEntry;
import jdk.internal.javac.TaskTable;
import jdk.internal.javac.WeakTable;

/**
 * What the agent has classes of this package call that need more than {@link TaskEntry}: members
 * that only the package sees. The agent defines it here.
 */
final class TaskCalls {
    private static final ForkedTasks FORKED = new ForkedTasks();
    /** Pools of the application's own classes, see {@link #isNew}. */
    private static final WeakTable NEW_POOLS = new WeakTable();
    /** Whether a queue ever got a task in place of the application's. */
    private static volatile boolean hasPooled;

    private TaskCalls() {}

    // ---- pools ----------------------------------------------------------------------------------

    /** What the pool is to queue in place of the task. */
    static Object pooled(Object pool, Object task) {
        if (task == null || task instanceof Future || hasOwnContext(task)) {
            return task;
        }
        Object carried = TaskEntry.carried(TaskEntry.POOLS, task, Runnable.class);
        if (carried == task || !takesAnyTask((ThreadPoolExecutor) pool)) {
            return task;
        }
        hasPooled = true;
        return new PooledTask((Runnable) task, (Runnable) carried);
    }

    private static boolean hasOwnContext(Object task) {
        return task instanceof PooledTask
                || task instanceof CompletableFuture.AsynchronousCompletionTask;
    }

    /** Whether neither the pool's queue nor its hooks see that the task is another one. */
    private static boolean takesAnyTask(ThreadPoolExecutor pool) {
        try {
            Class<?> queue = pool.getQueue().getClass();
            return queue.getClassLoader() == null
                    && queue != PriorityBlockingQueue.class
                    && queue != DelayQueue.class
                    && (pool.getClass().getClassLoader() == null || isNew(pool));
        } catch (Throwable ofTheApplication) {
            return false;
        }
    }

    /**
     * Whether all workers of the pool began after the calls of its hooks were replaced. Those
     * before call them with what they get from the queue.
     */
    private static boolean isNew(ThreadPoolExecutor pool) {
        return pool.getLargestPoolSize() == 0 || NEW_POOLS.has(pool);
    }

    /** The pool makes a worker. */
    static void grows(Object pool) {
        boolean isOfJdk = pool.getClass().getClassLoader() == null;
        if (!isOfJdk && ((ThreadPoolExecutor) pool).getLargestPoolSize() == 0) {
            NEW_POOLS.put(pool, null);
        }
    }

    /** The application's task, of one from a queue. */
    static Object own(Object task) {
        return task instanceof PooledTask ? ((PooledTask) task).task : task;
    }

    /** Equals what the queue has in place of the task, and the task. */
    static Object sought(Object task) {
        boolean mayBePooled = hasPooled && task instanceof Runnable && !(task instanceof Future);
        return mayBePooled && !(task instanceof PooledTask)
                ? new PooledTask((Runnable) task, null)
                : task;
    }

    static void beforeExecute(ThreadPoolExecutor pool, Thread thread, Runnable task) {
        pool.beforeExecute(thread, (Runnable) own(task));
    }

    static void afterExecute(ThreadPoolExecutor pool, Runnable task, Throwable failure) {
        pool.afterExecute((Runnable) own(task), failure);
    }

    /** Has a list get the application's tasks. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static int drainTo(BlockingQueue queue, Collection list) {
        int count = queue.drainTo(list);
        if (hasPooled && list instanceof List) {
            List<Object> tasks = (List<Object>) list;
            for (int i = 0; i < tasks.size(); i++) {
                tasks.set(i, own(tasks.get(i)));
            }
        }
        return count;
    }

    // ---- forkjoin -------------------------------------------------------------------------------

    /** A task is handed to other workers. Those that the JDK makes of others carry a context. */
    static void forked(Object task) {
        if (task != null && !isOfJdk(task)) {
            FORKED.note(TaskEntry.FORK_JOIN, task);
        }
    }

    static boolean exec(ForkJoinTask<?> task) {
        return isOfJdk(task) ? task.exec() : (Boolean) FORKED.run(task, task);
    }

    private static boolean isOfJdk(Object task) {
        return task instanceof RunnableFuture
                || task instanceof CompletableFuture.AsynchronousCompletionTask;
    }

    private static final class ForkedTasks extends TaskTable {
        @Override
        public Object apply(Object task) {
            return ((ForkJoinTask<?>) task).exec();
        }
    }
}
