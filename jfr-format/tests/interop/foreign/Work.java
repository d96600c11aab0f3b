import java.util.ArrayList;
import java.util.List;

/**
 * Something for a profiler to see: two methods that compute and allocate, on two threads, until the
 * profiler has enough.
 */
final class Work {
    private static volatile Object sink;

    interface Enough {
        boolean get();
    }

    /**
     * Runs {@code before} and then the work, on two threads at a time, again and again until {@code
     * enough}, but for a minute at most.
     */
    static void run(Runnable before, Enough enough) throws InterruptedException {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!enough.get() && System.nanoTime() < end) {
            Thread other = new Thread(
                    () -> {
                        before.run();
                        texts();
                    },
                    "second worker");
            other.start();
            before.run();
            numbers();
            other.join();
        }
    }

    private static void texts() {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            all.add("text " + i);
        }
        sink = all;
    }

    private static void numbers() {
        long sum = 0;
        for (long i = 1; i < 20_000_000; i++) {
            sum += Long.toString(i % 100).length() + i / 3;
        }
        sink = sum;
    }

    private Work() {}
}
