import io.ctxagent.AgentControl;
import java.io.File;

/**
 * Makes two recordings, with another name for a native thread in between: makes the directory
 * {@code rename} and waits for {@code renamed}.
 */
public final class Renamed {
    public static void main(String[] args) throws Exception {
        Cpu.ofProcess(300).burn();
        AgentControl.execute("stop");
        new File("rename").mkdir();
        Threads.awaitFile("renamed");
        AgentControl.execute("start,interval=2ms,file=second.jfr");
        Cpu.ofProcess(300).burn();
        AgentControl.execute("stop");
    }
}
