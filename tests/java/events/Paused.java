import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.concurrent.CountDownLatch;

/**
 * Computes and allocates under the labels {@code before}, {@code paused}, {@code after}, on a
 * thread that was there and on one born in the pause: {@code OPTIONS} of the recording. A second
 * recording ends while it is paused. Prints the CPU time of each as {@code LABEL NANOSECONDS}, and
 * what each command answered.
 */
public final class Paused {
    private static final long CPU_MILLIS = 400;
    private static final CountDownLatch unseen = new CountDownLatch(1);
    private static final CountDownLatch resumed = new CountDownLatch(1);
    private static volatile Object sink;

    public static void main(String[] args) throws Exception {
        // loads classes: on a busy machine the first sample after a start may come late, and stand
        // for that too
        work("unrecorded");
        answer("start," + args[0]);
        work("before");
        answer("resume");
        answer("pause");
        answer("pause");
        Thread born = Threads.start("born", Paused::bornInThePause);
        work("paused");
        answer("status");
        answer("dump,file=paused.jfr");
        unseen.await();
        answer("resume");
        resumed.countDown();
        work("after");
        born.join();
        answer("stop");
        answer("start,interval=5ms,file=second.jfr");
        answer("pause");
        work("paused");
        answer("stop");
        for (String command : new String[] {"pause", "resume"}) {
            try {
                answer(command);
            } catch (IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }

    private static void bornInThePause() throws InterruptedException {
        work("paused");
        unseen.countDown();
        resumed.await();
        work("born");
    }

    private static void work(String label) {
        long used;
        try (RecordingContext context = RecordingContext.where("label", label).build()) {
            long begin = Cpu.usedByThisThread();
            Cpu budget = Cpu.ofThisThread(CPU_MILLIS);
            while (budget.isLeft()) {
                for (int i = 0; i < 100; i++) {
                    sink = new byte[1000];
                }
            }
            used = Cpu.usedByThisThread() - begin;
        }
        System.out.println(label + " " + used);
    }

    private static void answer(String command) {
        System.out.println(AgentControl.execute(command));
    }
}
