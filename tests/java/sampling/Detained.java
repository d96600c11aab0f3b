import io.ctxagent.AgentControl;
import java.io.File;

/**
 * Stops the recording while the thread {@code detained} is in the agent's signal handler (until the
 * directory {@code free} is there), and makes another one. The handler goes on {@code between} the
 * two or {@code during} the second.
 */
public final class Detained {
    public static void main(String[] args) throws Exception {
        System.load(System.getenv("LD_PRELOAD"));
        Thread detained = Threads.start("detained", Detained::work);
        Threads.awaitFile("held");
        AgentControl.execute("stop");
        if (args[0].equals("between")) {
            letGo(detained);
        }
        AgentControl.execute("start,interval=1ms,cstack=asgct,file=second.jfr");
        if (args[0].equals("during")) {
            letGo(detained);
        }
        Cpu.ofThisThread(50).burn();
        AgentControl.execute("stop");
    }

    private static void letGo(Thread detained) throws Exception {
        new File("free").mkdir();
        detained.join();
    }

    private static native void work();
}
