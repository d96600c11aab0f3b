import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Platform threads that wait, each with a context, while the main thread works: {@code THREADS
 * MILLIS OPTIONS}. Starts a recording with these options once all wait. Tells the agent's counters
 * as they were before and after these milliseconds of CPU time: {@code NAME: BEFORE AFTER}.
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
        AgentControl.execute(args[2]);
        Cpu.ofThisThread(millis).burn();
        long[] before = Arrays.stream(COUNTERS).mapToLong(Status::counter).toArray();
        Cpu.ofThisThread(millis).burn();
        for (int i = 0; i < COUNTERS.length; i++) {
            System.out.println(COUNTERS[i] + ": " + before[i] + " " + Status.counter(COUNTERS[i]));
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
}
