import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.concurrent.CountDownLatch;

/**
 * Platform threads that wait, each with a context, while the main thread works: {@code THREADS
 * MILLIS}. Tells the agent's counters as they were before and after these milliseconds of CPU time:
 * {@code NAME: BEFORE AFTER}.
 */
public final class Idle {
    private static final String[] COUNTERS = {"wall.probes", "wall.scheduled"};

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long millis = Long.parseLong(args[1]);
        CountDownLatch waiting = new CountDownLatch(threads);
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> hold(waiting, end), "idle-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        waiting.await();
        work(millis);
        String before = AgentControl.execute("status");
        work(millis);
        String after = AgentControl.execute("status");
        for (String name : COUNTERS) {
            System.out.println(name + ": " + of(name, before) + " " + of(name, after));
        }
    }

    private static void hold(CountDownLatch waiting, CountDownLatch end) {
        try (RecordingContext context = RecordingContext.where("label", "idle").build()) {
            waiting.countDown();
            end.await();
        } catch (InterruptedException nobodyDoes) {
            throw new IllegalStateException(nobodyDoes);
        }
    }

    private static void work(long millis) {
        Cpu budget = Cpu.ofThisThread(millis);
        while (budget.isLeft()) {
            Thread.onSpinWait();
        }
    }

    private static String of(String name, String status) {
        for (String line : status.split("\n")) {
            if (line.startsWith(name + ": ")) {
                return line.substring(name.length() + 2).trim();
            }
        }
        return "0";
    }

    private Idle() {
    }
}
