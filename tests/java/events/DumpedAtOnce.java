import io.ctxagent.AgentControl;
import java.util.List;

/**
 * Pauses recordings under load, dumps each at once and ends it: {@code ROUNDS OPTIONS}. Round
 * {@code i} leaves {@code dump-i.jfr}, and the whole recording in {@code whole-i.jfr}.
 */
public final class DumpedAtOnce {
    private static volatile boolean done;

    public static void main(String[] args) throws InterruptedException {
        List<Thread> workers = Threads.start(3, "worker", i -> {
            while (!done) {
                Work.spin(10_000);
            }
        });
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            AgentControl.execute("start," + args[1] + ",file=whole-" + round + ".jfr");
            Cpu budget = Cpu.ofProcess(300);
            while (budget.isLeft()) {
                Thread.sleep(1);
            }
            AgentControl.execute("pause");
            AgentControl.execute("dump,file=dump-" + round + ".jfr");
            AgentControl.execute("stop");
        }
        done = true;
        Threads.join(workers);
    }
}
