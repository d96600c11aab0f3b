import io.ctxagent.AgentControl;
import java.io.File;

/**
 * Makes two recordings, with another name for a native thread in between: makes the directory {@code
 * rename} and waits for {@code renamed}.
 */
public final class Renamed {
    public static void main(String[] args) throws Exception {
        work();
        AgentControl.execute("stop");
        new File("rename").mkdir();
        while (!new File("renamed").exists()) {
            Thread.sleep(1);
        }
        AgentControl.execute("start,interval=2ms,file=second.jfr");
        work();
        AgentControl.execute("stop");
    }

    private static void work() {
        Cpu budget = Cpu.ofProcess(300);
        while (budget.isLeft()) {
            Thread.onSpinWait();
        }
    }

    private Renamed() {
    }
}
