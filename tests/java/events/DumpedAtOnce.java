import io.ctxagent.AgentControl;

/**
 * Pauses recordings under load, dumps each at once and ends it: {@code ROUNDS OPTIONS}. Round
 * {@code i} leaves {@code dump-i.jfr}, and the whole recording in {@code whole-i.jfr}.
 */
public final class DumpedAtOnce {
    private static volatile boolean done;
    private static volatile long sink;

    public static void main(String[] args) throws InterruptedException {
        Thread[] workers = new Thread[3];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(DumpedAtOnce::work, "worker-" + i);
            workers[i].start();
        }
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
        for (Thread worker : workers) {
            worker.join();
        }
    }

    private static void work() {
        while (!done) {
            for (int i = 0; i < 10_000; i++) {
                sink = sink * 31 + i;
            }
        }
    }

    private DumpedAtOnce() {
    }
}
