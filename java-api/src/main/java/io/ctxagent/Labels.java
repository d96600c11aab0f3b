package io.ctxagent;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Closures with attributes in one line: {@code Labels.run(this::handle, "endpoint", "/checkout",
 * "tenant", tenant)}.
 *
 * <p>Threads: any; the context is that of the calling one. Rules, limits and the behaviour without
 * the agent are those of {@link RecordingContext}. The names and values travel in an array: a few
 * nanoseconds more than {@link RecordingContext#where(RecordingContextKey, String)}.
 *
 * @since 0.1
 */
public final class Labels {
    private Labels() {}

    /**
     * Runs {@code task} with the given attributes.
     *
     * @param task what to run, not {@code null}
     * @param namesAndValues a name, its value, the next name, …; names not {@code null}, a {@code
     *     null} value removes the attribute
     * @throws NullPointerException if the task, the array or a name is {@code null}
     * @throws IllegalArgumentException if a value is missing at the end, or a name is none for an
     *     attribute
     */
    public static void run(Runnable task, String... namesAndValues) {
        Objects.requireNonNull(task, "the task is null");
        try (RecordingContext c = open(namesAndValues)) {
            task.run();
        }
    }

    /**
     * Calls {@code task} with the given attributes.
     *
     * @param <R> type of the result
     * @param task what to call, not {@code null}
     * @param namesAndValues as for {@link #run}
     * @return what {@code task} returned
     * @throws NullPointerException if the task, the array or a name is {@code null}
     * @throws IllegalArgumentException if a value is missing at the end, or a name is none for an
     *     attribute
     * @throws Exception if {@code task} threw it
     */
    public static <R> R call(Callable<R> task, String... namesAndValues) throws Exception {
        Objects.requireNonNull(task, "the task is null");
        try (RecordingContext c = open(namesAndValues)) {
            return task.call();
        }
    }

    /**
     * Begins asynchronous work with the given attributes, see {@link
     * RecordingContext.Builder#callAsync}.
     *
     * @param <T> type of the result
     * @param task what begins the work and returns its stage, neither being {@code null}
     * @param namesAndValues as for {@link #run}
     * @return the stage, whose functions run with the attributes; not {@code null}
     * @throws NullPointerException if the task, the array or a name is {@code null}
     * @throws IllegalArgumentException if a value is missing at the end, or a name is none for an
     *     attribute
     */
    public static <T> CompletionStage<T> callAsync(
            Supplier<? extends CompletionStage<T>> task, String... namesAndValues) {
        return builder(namesAndValues).callAsync(task);
    }

    private static RecordingContext open(String[] namesAndValues) {
        return builder(namesAndValues).build();
    }

    private static RecordingContext.Builder builder(String[] namesAndValues) {
        Objects.requireNonNull(namesAndValues, "the array of names and values is null");
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("names and values come in pairs, but there are "
                    + namesAndValues.length
                    + " strings: " + String.join(", ", namesAndValues));
        }
        RecordingContext.Builder builder = RecordingContext.builder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            builder.where(namesAndValues[i], namesAndValues[i + 1]);
        }
        return builder;
    }
}
