import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starts child processes under a context while other threads burn CPU: {@code CHILDREN}, every
 * second one from a thread that has just begun. Each child tells its signal mask, its ignored
 * signals, its timers and its open files, and the thread that started it its signal mask. Prints
 * every distinct answer with how often it came, and how many children ended with an exit code but
 * 0.
 */
public final class Children {
    private static final String ASK =
            "grep -E '^Sig(Blk|Ign|Cgt|Pnd)' /proc/self/status; grep -c ID: /proc/self/timers; for"
                + " f in /proc/self/fd/*; do readlink $f; done | grep -E '[.]jfr|[.]log' ; true";
    private static volatile boolean done;

    public static void main(String[] args) throws Exception {
        List<Thread> burners = Threads.start(2, "burner", i -> {
            while (!done) {
                Work.spin(1_000);
            }
        });
        Map<String, Integer> answers = new TreeMap<>();
        AtomicInteger bad = new AtomicInteger();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int number = i;
            Threads.Body start = () -> bad.addAndGet(child(number, answers));
            if (i % 2 == 0) {
                start.run();
            } else {
                Threads.start("starter", start).join();
            }
        }
        done = true;
        Threads.join(burners);
        answers.forEach((answer, count) -> System.out.println(count + " children:\n" + answer));
        System.out.println("bad " + bad);
    }

    /** Notes the answer of one child; 1 if it did not end as it should. */
    private static int child(int number, Map<String, Integer> answers) throws Exception {
        try (RecordingContext context =
                RecordingContext.where("child", "number-" + number).build()) {
            Process child = new ProcessBuilder("/bin/sh", "-c", ASK)
                    .redirectErrorStream(true)
                    .start();
            child.getOutputStream().close();
            try (InputStream answer = child.getInputStream()) {
                answers.merge(
                        new String(answer.readAllBytes(), StandardCharsets.UTF_8), 1, Integer::sum);
            }
            // The JDK clears the mask of its children; what native code starts on this thread
            // inherits it.
            answers.merge("thread " + blocked(), 1, Integer::sum);
            return child.waitFor() == 0 ? 0 : 1;
        }
    }

    private static String blocked() throws IOException {
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                        .filter(line -> line.startsWith("SigBlk"))
                        .findFirst()
                        .orElse("unknown")
                + "\n";
    }
}
