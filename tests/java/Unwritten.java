import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Allocates until samples are given up because the file cannot be written for too long, then ends the recording. Prints the last
 * {@code status}. The recording is to have CPU samples and allocations.
 */
public final class Unwritten {
    private static volatile Object sink;

    public static void main(String[] args) {
        while (!AgentControl.execute("status").contains("lost.write: ")) {
            Cpu budget = Cpu.ofProcess(200);
            try (RecordingContext context = RecordingContext.where("work", "unwritten").build()) {
                while (budget.isLeft()) {
                    allocate(40);
                }
            }
        }
        try {
            System.out.println(AgentControl.execute("stop"));
        } catch (IllegalStateException e) {
            System.out.println("not finished: " + e.getMessage());
        }
        System.out.println(AgentControl.execute("status"));
    }

    /** From stacks of different depth. */
    private static void allocate(int deeper) {
        sink = new byte[2_000];
        if (deeper > 0) {
            allocate(deeper - 1);
        }
    }

    private Unwritten() {
    }
}
