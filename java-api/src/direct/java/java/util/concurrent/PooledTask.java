package java.util.concurrent;

/**
 * A task in a pool's queue that runs with the context of the thread that handed it over. What the
 * pool shows of its tasks is the application's own, see {@link TaskCalls}.
 */
final class PooledTask implements Runnable {
    /** The application's. */
    final Runnable task;
    /** What runs it with its context. */
    private final Runnable carried;

    PooledTask(Runnable task, Runnable carried) {
        this.task = task;
        this.carried = carried;
    }

    @Override
    public void run() {
        carried.run();
    }

    /** As the application's task, whatever a queue compares with it. */
    @Override
    public boolean equals(Object other) {
        return task.equals(TaskCalls.own(other));
    }

    @Override
    public int hashCode() {
        return task.hashCode();
    }

    @Override
    public String toString() {
        return task.toString();
    }
}
