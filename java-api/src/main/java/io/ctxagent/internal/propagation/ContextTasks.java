package io.ctxagent.internal.propagation;

import io.ctxagent.internal.agent.Rethrow;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Tasks that run with a carried context: classes instead of lambdas, so that stacks show what they
 * are.
 */
public final class ContextTasks {
    private ContextTasks() {}

    /** Has the VM load and initialise the classes of tasks: here, not where a task is made. */
    static void loadClasses() {
        new Task(null, null);
        new ComparableTask(null, null);
        new Call<>(null, null);
        new ComparableCall<>(null, null);
        new Supply<>(null, null);
        new Apply(null, null);
        new Combine(null, null);
        new Accept(null, null);
        new AcceptBoth(null, null);
        new Stay(null);
    }

    /** A function and the context that it runs with. */
    private abstract static class Carried<F> {
        final F function;
        final ContextSnapshot snapshot;

        Carried(F function, ContextSnapshot snapshot) {
            this.function = function;
            this.snapshot = snapshot;
        }

        /**
         * Closes the activation, then throws what the function has thrown. At one place for both:
         * C2 does not inline a close that it has not seen, and then the activation is an object.
         */
        static void end(ContextActivation activation, Throwable failure) {
            activation.close();
            if (failure != null) {
                throw Rethrow.unchecked(failure);
            }
        }

        @Override
        public String toString() {
            return function.toString();
        }
    }

    /** The task with its context; comparable if {@code task} is: a queue may order its tasks. */
    public static Runnable of(Runnable task, ContextSnapshot snapshot) {
        return task instanceof Comparable
                ? new ComparableTask(task, snapshot)
                : new Task(task, snapshot);
    }

    /** The task with its context; comparable if {@code task} is. */
    public static <R> Callable<R> of(Callable<R> task, ContextSnapshot snapshot) {
        return task instanceof Comparable
                ? new ComparableCall<>(task, snapshot)
                : new Call<>(task, snapshot);
    }

    /** The supplier with its context. */
    public static <R> Supplier<R> of(Supplier<R> supplier, ContextSnapshot snapshot) {
        return new Supply<>(supplier, snapshot);
    }

    /** The function with its context. */
    @SuppressWarnings("unchecked")
    public static <T, R> Function<T, R> of(Function<T, R> function, ContextSnapshot snapshot) {
        // It passes on what it gets, whatever that is.
        Function<?, ?> carried = new Apply((Function<Object, Object>) function, snapshot);
        return (Function<T, R>) carried;
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

    /** The task as it was before it got a context. */
    static Object unwrapped(Object task) {
        return task instanceof Carried ? ((Carried<?>) task).function : task;
    }

    static class Task extends Carried<Runnable> implements Runnable {
        Task(Runnable task, ContextSnapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public void run() {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            try {
                function.run();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
        }
    }

    private static final class ComparableTask extends Task implements Comparable<Object> {
        ComparableTask(Runnable task, ContextSnapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public int compareTo(Object other) {
            return compare(function, other);
        }
    }

    private static class Call<R> extends Carried<Callable<R>> implements Callable<R> {
        Call(Callable<R> task, ContextSnapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public R call() throws Exception {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            R result = null;
            try {
                result = function.call();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
            return result;
        }
    }

    private static final class ComparableCall<R> extends Call<R> implements Comparable<Object> {
        ComparableCall(Callable<R> task, ContextSnapshot snapshot) {
            super(task, snapshot);
        }

        @Override
        public int compareTo(Object other) {
            return compare(function, other);
        }
    }

    private static final class Supply<R> extends Carried<Supplier<R>> implements Supplier<R> {
        Supply(Supplier<R> supplier, ContextSnapshot snapshot) {
            super(supplier, snapshot);
        }

        @Override
        public R get() {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            R result = null;
            try {
                result = function.get();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
            return result;
        }
    }

    /** The stages of {@link ContextStage} know no more than that it is a function. */
    static final class Apply extends Carried<Function<Object, Object>>
            implements Function<Object, Object> {
        Apply(Function<Object, Object> function, ContextSnapshot snapshot) {
            super(function, snapshot);
        }

        @Override
        public Object apply(Object value) {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            Object result = null;
            try {
                result = function.apply(value);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
            return result;
        }
    }

    static final class Combine extends Carried<BiFunction<Object, Object, Object>>
            implements BiFunction<Object, Object, Object> {
        Combine(BiFunction<Object, Object, Object> function, ContextSnapshot snapshot) {
            super(function, snapshot);
        }

        @Override
        public Object apply(Object value, Object other) {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            Object result = null;
            try {
                result = function.apply(value, other);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
            return result;
        }
    }

    static final class Accept extends Carried<Consumer<Object>> implements Consumer<Object> {
        Accept(Consumer<Object> consumer, ContextSnapshot snapshot) {
            super(consumer, snapshot);
        }

        @Override
        public void accept(Object value) {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            try {
                function.accept(value);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
        }
    }

    static final class AcceptBoth extends Carried<BiConsumer<Object, Object>>
            implements BiConsumer<Object, Object> {
        AcceptBoth(BiConsumer<Object, Object> consumer, ContextSnapshot snapshot) {
            super(consumer, snapshot);
        }

        @Override
        public void accept(Object value, Object other) {
            ContextActivation a = snapshot.activateExactly();
            Throwable failure = null;
            try {
                function.accept(value, other);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(a, failure);
        }
    }

    /** Gives the current thread a context until it ends. */
    static final class Stay implements Runnable {
        private final ContextSnapshot snapshot;

        Stay(ContextSnapshot snapshot) {
            this.snapshot = snapshot;
        }

        @Override
        public void run() {
            snapshot.activateExactly();
        }
    }
}
