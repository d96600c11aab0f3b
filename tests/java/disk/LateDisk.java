import io.ctxagent.AgentControl;
import java.io.File;
import java.io.IOException;

/**
 * The disk hung as the recording was started: it answers as soon as there is a file {@code back},
 * which this makes. Ends when the agent has no writer any more.
 */
public final class LateDisk {
    public static void main(String[] args) throws IOException {
        System.out.println(state());
        new File("back").createNewFile();
        while (!state().equals("state: idle")) {
            Thread.onSpinWait();
        }
    }

    private static String state() {
        return AgentControl.execute("status").lines().filter(line -> line.startsWith("state: "))
                .findFirst().orElseThrow();
    }

    private LateDisk() {
    }
}
