import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Platform threads, one at a time, each with a context: {@code THREADS}. Tells the resident memory twenty times, as {@code resident THREADS KIB}, and
 * what the agent says at the end.
 */
public final class InTurn {
    private static final int REPORTS = 20;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        for (int report = 1; report <= REPORTS; report++) {
            for (int i = threads / REPORTS; i > 0; i--) {
                Thread thread = new Thread(InTurn::live);
                thread.start();
                thread.join();
            }
            System.out.println("resident " + threads / REPORTS * report + " " + Resident.kib());
        }
        System.out.println(AgentControl.execute("status"));
    }

    private static void live() {
        try (RecordingContext context = RecordingContext.where("turn", "mine").build()) {
            sink++;
        }
    }

    private InTurn() {
    }
}
