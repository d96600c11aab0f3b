import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Allocates until samples are given up because a file cannot be written, and for a while after
 * that; then ends the recording. Prints the last {@code status}. The recording is to have CPU
 * samples and allocations.
 */
public final class Unwritten {
    private static volatile Object sink;

    public static void main(String[] args) {
        while (!AgentControl.execute("status").contains("lost.write: ")) {
            work("unwritten");
        }
        work("after");
        try {
            System.out.println(AgentControl.execute("stop"));
        } catch (IllegalStateException e) {
            System.out.println("not finished: " + e.getMessage());
        }
        System.out.println(AgentControl.execute("status"));
    }

    private static void work(String label) {
        Cpu budget = Cpu.ofProcess(200);
        try (RecordingContext context = RecordingContext.where("work", label).build()) {
            while (budget.isLeft()) {
                allocate(40);
            }
        }
    }

    /** From stacks of different depth. */
    private static void allocate(int deeper) {
        sink = new byte[2_000];
        if (deeper > 0) {
            allocate(deeper - 1);
        }
    }
}
