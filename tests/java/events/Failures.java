import io.ctxagent.RecordingContext;

/**
 * Creates exceptions: {@code platform|virtual COUNT SECONDS}, so many in rounds of ten, seven
 * labelled {@code seventy} and three {@code thirty}; the seconds are how long at least. Prints
 * {@code seventy N} and {@code thirty N}.
 */
public final class Failures {
    private static final int ROUND = 10;
    private static long rounds;

    /** What is created. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** One without a stack: nobody is told. */
    static final class Quiet extends RuntimeException {
        private static final long serialVersionUID = 1;

        Quiet() {
            super("quiet", null, false, false);
        }
    }

    private static RuntimeException kept;

    public static void main(String[] args) throws Exception {
        long count = Long.parseLong(args[1]);
        long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000;
        Threads.start(args[0].equals("virtual"), "failing", () -> {
                    while (rounds * ROUND < count || System.nanoTime() < end) {
                        create("seventy", 7);
                        create("thirty", 3);
                        rounds++;
                    }
                })
                .join();
        System.out.println("seventy " + rounds * 7);
        System.out.println("thirty " + rounds * 3);
    }

    private static void create(String label, int count) {
        try (RecordingContext context = RecordingContext.where("label", label).build()) {
            for (int i = 0; i < count; i++) {
                kept = new Failure();
                kept = new Quiet();
            }
        }
    }
}
