import io.ctxagent.RecordingContext;

/**
 * Threads that use so much CPU time each, under labels that begin with the name of the thread and
 * change every few milliseconds: {@code THREADS CPU_MILLIS}.
 */
public final class Labelled {
    private static volatile long sink;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        long millis = Long.parseLong(args[1]);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(millis), "labelled-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work(long millis) {
        String name = Thread.currentThread().getName();
        Cpu budget = Cpu.ofThisThread(millis);
        for (int round = 0; budget.isLeft(); round++) {
            // Some labels come for the first time in each file, others are known from all before.
            try (RecordingContext context = RecordingContext.where("who", name + ":"
                    + (round % 3 == 0 ? 0 : round)).build()) {
                for (int i = 0; i < 3_000_000; i++) {
                    sink = sink * 31 + i;
                }
            }
        }
    }

    private Labelled() {
    }
}
