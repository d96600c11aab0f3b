package service;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Threads of the kind that an argument names. */
final class Threads {
    private Threads() {}

    /** {@code virtual}: a virtual thread for each task; else four platform threads. */
    static ExecutorService of(String kind) throws ReflectiveOperationException {
        return kind.equals("virtual")
                ? (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null)
                : Executors.newFixedThreadPool(4);
    }
}
