package io.ctxagent;

import io.ctxagent.internal.agent.Rethrow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** What {@code RecordingContext.wrap} returns: classes instead of lambdas, so that stacks show what they are. */
final class Wrapped {
    private Wrapped() {
    }

    /** A function and the context that it runs with. */
    private abstract static class Carried<F> {
        final F function;
        final RecordingContext.Snapshot snapshot;

        Carried(F function, RecordingContext.Snapshot snapshot) {
            this.function = function;
            this.snapshot = snapshot;
        }

        @Override
        public String toString() {
            return function.toString();
        }
    }

    /** One that can be compared if {@code task} can: a queue may order its tasks. */
    static Runnable task(Runnable task, RecordingContext.Snapshot snapshot) {
        return task instanceof Comparable ? new ComparableTask(task, snapshot) : new Task(task, snapshot);
    }

    /** One that can be compared if {@code task} can. */
    static <R> Callable<R> call(Callable<R> task, RecordingContext.Snapshot snapshot) {
        return task instanceof Comparable ? new ComparableCall<>(task, snapshot) : new Call<>(task, snapshot);
    }

    /** Compares what is carried, on both sides. */
    @SuppressWarnings("unchecked")
    private static int compare(Object function, Object other) {
        Object to = other;
        while (to instanceof Carried) {
            to = unwrapped(to);
        }
        return ((Comparable<Object>) function).compareTo(to);
    }

    private static Object unwrapped(Object task) {
        return task instanceof Carried ? ((Carried<?>) task).function : task;
    }

    static class Task extends Carried<Runnable> implements Runnable {
        Task(Runnable task, RecordingContext.Snapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public void run() {
            try (RecordingContext.Activation a = snapshot.activate()) {
                function.run();
            }
        }
    }

    private static final class ComparableTask extends Task implements Comparable<Object> {
        ComparableTask(Runnable task, RecordingContext.Snapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public int compareTo(Object other) {
            return compare(function, other);
        }
    }

    static class Call<R> extends Carried<Callable<R>> implements Callable<R> {
        Call(Callable<R> task, RecordingContext.Snapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public R call() throws Exception {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return function.call();
            }
        }
    }

    private static final class ComparableCall<R> extends Call<R> implements Comparable<Object> {
        ComparableCall(Callable<R> task, RecordingContext.Snapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public int compareTo(Object other) {
            return compare(function, other);
        }
    }

    static final class Supply<R> extends Carried<Supplier<R>> implements Supplier<R> {
        Supply(Supplier<R> supplier, RecordingContext.Snapshot snapshot) {
            super(supplier, snapshot);
        }

        @Override
        public R get() {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return function.get();
            }
        }
    }

    /** For the stages of {@link Stages}, which know no more than that it is a function. */
    static final class Apply extends Carried<Function<Object, Object>> implements Function<Object, Object> {
        Apply(Function<Object, Object> function, RecordingContext.Snapshot snapshot) {
            super(function, snapshot);
        }

        @Override
        public Object apply(Object value) {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return function.apply(value);
            }
        }
    }

    static final class Combine extends Carried<BiFunction<Object, Object, Object>> implements BiFunction<Object, Object, Object> {
        Combine(BiFunction<Object, Object, Object> function, RecordingContext.Snapshot snapshot) {
            super(function, snapshot);
        }

        @Override
        public Object apply(Object value, Object other) {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return function.apply(value, other);
            }
        }
    }

    static final class Accept extends Carried<Consumer<Object>> implements Consumer<Object> {
        Accept(Consumer<Object> consumer, RecordingContext.Snapshot snapshot) {
            super(consumer, snapshot);
        }

        @Override
        public void accept(Object value) {
            try (RecordingContext.Activation a = snapshot.activate()) {
                function.accept(value);
            }
        }
    }

    static final class AcceptBoth extends Carried<BiConsumer<Object, Object>> implements BiConsumer<Object, Object> {
        AcceptBoth(BiConsumer<Object, Object> consumer, RecordingContext.Snapshot snapshot) {
            super(consumer, snapshot);
        }

        @Override
        public void accept(Object value, Object other) {
            try (RecordingContext.Activation a = snapshot.activate()) {
                function.accept(value, other);
            }
        }
    }

    static final class Executing implements Executor {
        private final Executor executor;

        Executing(Executor executor) {
            this.executor = executor;
        }

        @Override
        public void execute(Runnable task) {
            executor.execute(RecordingContext.wrap(task));
        }
    }

    static class Service<E extends ExecutorService> implements ExecutorService {
        final E executor;

        Service(E executor) {
            this.executor = executor;
        }

        @Override
        public void execute(Runnable task) {
            executor.execute(RecordingContext.wrap(task));
        }

        @Override
        public Future<?> submit(Runnable task) {
            return executor.submit(RecordingContext.wrap(task));
        }

        @Override
        public <T> Future<T> submit(Runnable task, T result) {
            return executor.submit(RecordingContext.wrap(task), result);
        }

        @Override
        public <T> Future<T> submit(Callable<T> task) {
            return executor.submit(RecordingContext.wrap(task));
        }

        @Override
        public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks) throws InterruptedException {
            return executor.invokeAll(all(tasks));
        }

        @Override
        public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
                throws InterruptedException {
            return executor.invokeAll(all(tasks), timeout, unit);
        }

        @Override
        public <T> T invokeAny(Collection<? extends Callable<T>> tasks) throws InterruptedException, ExecutionException {
            return executor.invokeAny(all(tasks));
        }

        @Override
        public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
                throws InterruptedException, ExecutionException, TimeoutException {
            return executor.invokeAny(all(tasks), timeout, unit);
        }

        private static <T> List<Callable<T>> all(Collection<? extends Callable<T>> tasks) {
            List<Callable<T>> wrapped = new ArrayList<>(tasks.size());
            for (Callable<T> task : tasks) {
                wrapped.add(RecordingContext.wrap(task));
            }
            return wrapped;
        }

        @Override
        public void shutdown() {
            executor.shutdown();
        }

        /** The tasks as they were handed over. */
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> tasks = new ArrayList<>();
            for (Runnable task : executor.shutdownNow()) {
                tasks.add((Runnable) unwrapped(task));
            }
            return tasks;
        }

        /**
         * What the executor itself does: some never end, and the interface's own way waits for the end. An executor service can be closed since 19, so the
         * method overrides nothing before, and nobody calls it there.
         */
        public void close() {
            if (executor instanceof AutoCloseable) {
                try {
                    ((AutoCloseable) executor).close();
                } catch (Exception ofTheExecutor) {
                    throw Rethrow.unchecked(ofTheExecutor);
                }
            }
        }

        @Override
        public boolean isShutdown() {
            return executor.isShutdown();
        }

        @Override
        public boolean isTerminated() {
            return executor.isTerminated();
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
            return executor.awaitTermination(timeout, unit);
        }
    }

    static final class Scheduled extends Service<ScheduledExecutorService> implements ScheduledExecutorService {
        Scheduled(ScheduledExecutorService executor) {
            super(executor);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            return executor.schedule(RecordingContext.wrap(task), delay, unit);
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
            return executor.schedule(RecordingContext.wrap(task), delay, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
            return executor.scheduleAtFixedRate(RecordingContext.wrap(task), initialDelay, period, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
            return executor.scheduleWithFixedDelay(RecordingContext.wrap(task), initialDelay, delay, unit);
        }
    }
}
