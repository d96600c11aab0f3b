import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Platform threads, one at a time: {@code THREADS COMMAND [bare]}. Each has a context, unless they
 * are bare; the agent is given the command before the first of them. Tells the resident memory
 * twenty times, as {@code resident THREADS KIB}, and what the agent says at the end.
 */
public final class InTurn {
    private static final int REPORTS = 20;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        Runnable life = args.length > 2 ? () -> sink++ : InTurn::live;
        AgentControl.execute(args[1]);
        for (int report = 1; report <= REPORTS; report++) {
            for (int i = threads / REPORTS; i > 0; i--) {
                Threads.start("turn-" + report + "-" + i, life::run).join();
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
}
