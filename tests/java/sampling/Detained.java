import io.ctxagent.AgentControl;
import java.io.File;

/**
 * Stops the recording while the thread {@code detained} is in the agent's signal handler (until the
 * directory {@code free} is there), and makes another one. The handler goes on {@code between} the two
 * or {@code during} the second.
 */
public final class Detained {
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        System.load(System.getenv("LD_PRELOAD"));
        Thread detained = new Thread(Detained::work, "detained");
        detained.start();
        while (!new File("held").exists()) {
            Thread.sleep(1);
        }
        AgentControl.execute("stop");
        if (args[0].equals("between")) {
            letGo(detained);
        }
        AgentControl.execute("start,interval=1ms,cstack=asgct,file=second.jfr");
        if (args[0].equals("during")) {
            letGo(detained);
        }
        Cpu budget = Cpu.ofThisThread(50);
        while (budget.isLeft()) {
            sink++;
        }
        AgentControl.execute("stop");
    }

    private static void letGo(Thread detained) throws Exception {
        new File("free").mkdir();
        detained.join();
    }

    private static native void work();

    private Detained() {
    }
}
