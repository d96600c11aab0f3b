import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.File;
import java.util.List;

/**
 * Starts and stops the recording again and again under load: {@code TIMES OPTIONS}. Prints what the
 * process holds after some rounds, after half of them and at the end: {@code held FILES THREADS
 * TIMERS RESIDENT_KIB} (timers: while nothing is recorded).
 */
public final class Restarts {
    /** Rounds until the JVM and the agent have everything that they keep. */
    private static final int WARM_UP = 20;

    private static volatile boolean done;

    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]);
        tell(); // what the JVM opens for that
        List<Thread> workers = Threads.start(3, "worker", i -> work());
        for (int i = 0; i < times; i++) {
            if (i == WARM_UP || i > WARM_UP && i == times / 2) {
                tell();
            }
            AgentControl.execute("start," + args[1]);
            AgentControl.execute("stop");
        }
        tell();
        done = true;
        Threads.join(workers);
        System.out.println("rounds " + times);
    }

    private static void tell() throws Exception {
        int files = new File("/proc/self/fd").list().length;
        int threads = new File("/proc/self/task").list().length;
        long timers =
                java.nio.file.Files.readAllLines(new File("/proc/self/timers").toPath()).stream()
                        .filter(line -> line.startsWith("ID:"))
                        .count();
        System.out.println("held " + files + " " + threads + " " + timers + " " + Resident.kib());
    }

    private static void work() {
        while (!done) {
            try (RecordingContext context =
                    RecordingContext.where("work", "restarts").build()) {
                Work.spin(10_000);
            }
        }
    }
}
