import io.ctxagent.RecordingContext;

/** Computes at the end of a recursion: {@code CALLS MILLIS}. */
public final class Recursing {
    private static long millis;

    public static void main(String[] args) throws Exception {
        int calls = Integer.parseInt(args[0]);
        millis = Long.parseLong(args[1]);
        // Loads its classes now: on top of the recursion that would exceed the depth limit.
        Cpu.ofThisThread(1).burn();
        Thread thread = new Thread(null, () -> root(calls), "recursing", 64 << 20);
        thread.start();
        thread.join();
    }

    private static void root(int calls) {
        recurse(calls);
    }

    private static int recurse(int calls) {
        return calls > 0 ? recurse(calls - 1) + 1 : compute();
    }

    private static int compute() {
        try (RecordingContext context = RecordingContext.where("label", "deep").build()) {
            Cpu.ofThisThread(millis).burn();
        }
        return 0;
    }
}
