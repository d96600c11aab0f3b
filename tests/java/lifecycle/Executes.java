import io.ctxagent.AgentControl;

/** Prints what the agent answers to each argument, a command, or that it is refused. */
public final class Executes {
    public static void main(String[] commands) {
        for (String command : commands) {
            try {
                System.out.println(AgentControl.execute(command));
            } catch (IllegalStateException | IllegalArgumentException refused) {
                System.out.println("refused: " + refused.getMessage());
            }
        }
    }
}
