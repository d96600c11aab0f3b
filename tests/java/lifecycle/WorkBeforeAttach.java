import io.ctxagent.RecordingContext;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads that work under a context from before the agent is there until a file {@code done} is in
 * the working directory, half of the time: one by one builder. On JDK 21 and later one is virtual.
 * {@code alone}: only the one by one builder.
 */
public final class WorkBeforeAttach {
    private static volatile boolean done;

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        RecordingContext.Builder early = RecordingContext.where("kind", "early");
        boolean alone = args.length > 0;
        if (!alone) {
            threads.add(Threads.start("late-platform", () -> work("platform")));
        }
        threads.add(Threads.start("late-builder", () -> {
            while (!done) {
                early.run(() -> Work.spin(100_000));
                Thread.sleep(1);
            }
        }));
        if (Threads.hasVirtual() && !alone) {
            threads.add(Threads.startVirtual(() -> work("virtual")));
        }
        System.out.println("ready");
        Threads.awaitFile("done");
        done = true;
        Threads.join(threads);
        System.out.println("finished");
    }

    private static void work(String kind) throws InterruptedException {
        while (!done) {
            try (RecordingContext context = RecordingContext.where("kind", kind).build()) {
                Work.spin(100_000);
            }
            Thread.sleep(1);
        }
    }
}
