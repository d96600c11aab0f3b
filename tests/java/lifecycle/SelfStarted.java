import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Starts the agent that is in its own jar with the options of the first argument, works under a
 * label and stops. Prints why if there is none.
 */
public final class SelfStarted {
    public static void main(String[] args) {
        try {
            System.out.println(AgentControl.execute(args[0]));
        } catch (IllegalStateException | IllegalArgumentException refused) {
            System.out.println("refused: " + refused.getMessage());
            return;
        }
        try (RecordingContext context = RecordingContext.where("who", "self").build()) {
            Cpu budget = Cpu.ofThisThread(300);
            while (budget.isLeft()) {
                Work.spin(100_000);
            }
        }
        System.out.println(AgentControl.execute("stop"));
    }
}
