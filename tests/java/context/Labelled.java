import io.ctxagent.RecordingContext;

/**
 * Threads that use so much CPU time each, under labels that begin with the name of the thread and
 * change every few milliseconds: {@code THREADS CPU_MILLIS}.
 */
public final class Labelled {
    public static void main(String[] args) throws InterruptedException {
        long millis = Long.parseLong(args[1]);
        Threads.run(Integer.parseInt(args[0]), "labelled", i -> work(millis));
    }

    private static void work(long millis) {
        String name = Thread.currentThread().getName();
        Cpu budget = Cpu.ofThisThread(millis);
        for (int round = 0; budget.isLeft(); round++) {
            // Some labels come for the first time in each file, others are known from all before.
            try (RecordingContext context = RecordingContext.where(
                            "who", name + ":" + (round % 3 == 0 ? 0 : round))
                    .build()) {
                Work.spin(3_000_000);
            }
        }
    }
}
