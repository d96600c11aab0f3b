import io.ctxagent.RecordingContext;

/**
 * Opens a context and then computes in a counted loop that touches no memory and, under collectors
 * without strip mining, has no safepoint: a compiler may let the store that publishes the context
 * sink below such a loop. Arguments: seconds of CPU time.
 */
public final class PureLoop {
    private static volatile int sink;

    public static void main(String[] args) {
        Cpu budget = Cpu.ofProcess(1000 * Long.parseLong(args[0]));
        while (budget.isLeft()) {
            sink = once(sink);
        }
        System.out.println("PURE-DONE");
    }

    private static int once(int x) {
        try (RecordingContext context = RecordingContext.where("work", "pure").build()) {
            return compute(x);
        }
    }

    private static int compute(int x) {
        for (int i = 0; i < 300_000; i++) {
            x = x * 31 + (x >>> 7) + i;
        }
        return x;
    }
}
