package io.ctxagent.observe;

import io.ctxagent.internal.observe.CurrentContext;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Functions whose calls are entries of type {@link EntryType#FUNCTION}: {@code pool.submit(
 * Timed.callable("load", this::load))}. They return and throw what the function does.
 *
 * <p>Threads: as the function. Cost: one look at a bit mask while nobody observes. Without the
 * agent: as with it, but without contexts.
 *
 * @since 0.1
 */
public final class Timed {
    private static final int FUNCTION = EntryType.FUNCTION.ordinal();

    private Timed() {}

    /**
     * A task that tells how long it runs.
     *
     * @param name the name of its entries, not {@code null}
     * @param task the task, not {@code null}
     * @return the task to run instead, not {@code null}
     */
    public static Runnable runnable(String name, Runnable task) {
        String fitting = checked(name, task);
        return () -> time(fitting, () -> {
            task.run();
            return null;
        });
    }

    /**
     * A task that tells how long it runs.
     *
     * @param <R> type of the result
     * @param name the name of its entries, not {@code null}
     * @param task the task, not {@code null}
     * @return the task to call instead, not {@code null}
     */
    public static <R> Callable<R> callable(String name, Callable<R> task) {
        String fitting = checked(name, task);
        return () -> time(fitting, task::call);
    }

    /**
     * A supplier that tells how long it runs.
     *
     * @param <R> type of the result
     * @param name the name of its entries, not {@code null}
     * @param supplier the supplier, not {@code null}
     * @return the supplier to ask instead, not {@code null}
     */
    public static <R> Supplier<R> supplier(String name, Supplier<R> supplier) {
        String fitting = checked(name, supplier);
        return () -> time(fitting, supplier::get);
    }

    /**
     * A function that tells how long it runs.
     *
     * @param <T> type of the argument
     * @param <R> type of the result
     * @param name the name of its entries, not {@code null}
     * @param function the function, not {@code null}
     * @return the function to apply instead, not {@code null}
     */
    public static <T, R> Function<T, R> function(String name, Function<T, R> function) {
        String fitting = checked(name, function);
        return argument -> time(fitting, () -> function.apply(argument));
    }

    /**
     * Asynchronous work that tells how long it takes: from the call until its stage has ended.
     *
     * @param <R> type of the result
     * @param name the name of its entries, not {@code null}
     * @param work what begins the work and returns its stage, not {@code null}
     * @return what begins it instead and returns the same stage, not {@code null}
     */
    public static <R> Supplier<CompletionStage<R>> stage(
            String name, Supplier<? extends CompletionStage<R>> work) {
        String fitting = checked(name, work);
        return () -> {
            if (!ObserverHub.isObserved(FUNCTION)) {
                return work.get();
            }
            long start = System.nanoTime();
            CompletionStage<R> stage;
            try {
                stage = work.get();
            } catch (Throwable thrown) {
                publish(fitting, start, thrown);
                throw thrown;
            }
            if (stage != null) {
                stage.whenComplete((result, failure) -> publish(fitting, start, cause(failure)));
            }
            return stage;
        };
    }

    private interface Call<R, X extends Exception> {
        R call() throws X;
    }

    private static <R, X extends Exception> R time(String name, Call<R, X> call) throws X {
        if (!ObserverHub.isObserved(FUNCTION)) {
            return call.call();
        }
        long start = System.nanoTime();
        Throwable failure = null;
        try {
            return call.call();
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            publish(name, start, failure);
        }
    }

    private static Throwable cause(Throwable failure) {
        boolean isWrapped = failure instanceof CompletionException && failure.getCause() != null;
        return isWrapped ? failure.getCause() : failure;
    }

    private static String checked(String name, Object function) {
        Objects.requireNonNull(function, "the function is null");
        return Marks.fitting(name);
    }

    private static void publish(String name, long start, Throwable failure) {
        long nanos = System.nanoTime() - start;
        ObserverHub.publish(new ObservedEntry(
                FUNCTION, name, start, nanos, new FunctionDetail(failure), CurrentContext.copy()));
    }
}
