import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Threads that allocate, and go on while the recording ends: {@code CPU_MILLIS} of the process,
 * then {@code stop}.
 */
public final class Unfinished {
    private static final int OTHERS = 3;
    private static volatile Object sink;

    public static void main(String[] args) {
        for (int i = 0; i < OTHERS; i++) {
            Threads.startDaemon("unfinished-" + i, Unfinished::workWithoutEnd);
        }
        Cpu budget = Cpu.ofProcess(Long.parseLong(args[0]));
        while (budget.isLeft()) {
            work();
        }
        AgentControl.execute("stop");
    }

    private static void workWithoutEnd() {
        while (true) {
            work();
        }
    }

    private static void work() {
        try (RecordingContext context =
                RecordingContext.where("work", "endless").build()) {
            for (int i = 0; i < 100; i++) {
                sink = new byte[2_000];
            }
        }
    }
}
