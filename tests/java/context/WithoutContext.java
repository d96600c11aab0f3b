import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Hands 4,000 tasks to a pool without a context, most of them at one place, has virtual threads
 * wait, and prints the agent's {@code status}.
 */
public final class WithoutContext {
    private static final ThreadPoolExecutor pool =
            new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());

    public static void main(String[] args) throws Exception {
        try (RecordingContext scope = RecordingContext.where("tenant", "acme").build()) {
            pool.execute(() -> {});
        }
        for (int i = 0; i < 4_000; i++) {
            if (i % 16 == 0) {
                seldom();
            } else {
                often();
            }
        }
        if (Threads.hasVirtual()) {
            Threads.join(Threads.start(true, 2, "", number -> {
                for (int i = 0; i < 20; i++) {
                    Thread.sleep(1);
                    Thread.yield();
                }
            }));
        }
        pool.shutdown();
        System.out.print(AgentControl.execute("status"));
    }

    private static void often() {
        pool.execute(() -> {});
    }

    private static void seldom() {
        pool.execute(() -> {});
    }
}
