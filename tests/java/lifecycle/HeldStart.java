import io.ctxagent.AgentControl;
import java.io.File;
import java.io.IOException;

/**
 * Gives the agent commands, the last one on a thread of its own once there is a file {@code hold}
 * in the working directory; ends as soon as there is a file {@code held}, without waiting for it:
 * {@code COMMAND LAST}.
 */
public final class HeldStart {
    public static void main(String[] args) throws IOException {
        System.out.println(AgentControl.execute(args[0]));
        new File("hold").createNewFile();
        Threads.startDaemon("asking", () -> AgentControl.execute(args[1]));
        while (!new File("held").exists()) {
            Thread.onSpinWait();
        }
        System.exit(0);
    }
}
