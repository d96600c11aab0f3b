package io.ctxagent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** What {@code RecordingContext.wrap} returns: classes instead of lambdas, so that stacks show what they are. */
final class Wrapped {
    private Wrapped() {
    }

    static final class Task implements Runnable {
        private final Runnable task;
        private final RecordingContext.Snapshot snapshot;

        Task(Runnable task, RecordingContext.Snapshot snapshot) {
            this.task = task;
            this.snapshot = snapshot;
        }

        @Override
        public void run() {
            try (RecordingContext.Activation a = snapshot.activate()) {
                task.run();
            }
        }

        @Override
        public String toString() {
            return task.toString();
        }
    }

    static final class Call<R> implements Callable<R> {
        private final Callable<R> task;
        private final RecordingContext.Snapshot snapshot;

        Call(Callable<R> task, RecordingContext.Snapshot snapshot) {
            this.task = task;
            this.snapshot = snapshot;
        }

        @Override
        public R call() throws Exception {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return task.call();
            }
        }

        @Override
        public String toString() {
            return task.toString();
        }
    }

    static final class Supply<R> implements Supplier<R> {
        private final Supplier<R> supplier;
        private final RecordingContext.Snapshot snapshot;

        Supply(Supplier<R> supplier, RecordingContext.Snapshot snapshot) {
            this.supplier = supplier;
            this.snapshot = snapshot;
        }

        @Override
        public R get() {
            try (RecordingContext.Activation a = snapshot.activate()) {
                return supplier.get();
            }
        }

        @Override
        public String toString() {
            return supplier.toString();
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

    static final class Service implements ExecutorService {
        private final ExecutorService executor;

        Service(ExecutorService executor) {
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

        @Override
        public List<Runnable> shutdownNow() {
            return executor.shutdownNow();
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
}
