import io.ctxagent.RecordingContext;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Starts child processes under a context while other threads burn CPU: {@code CHILDREN}. Each child tells its signal mask, its ignored signals,
 * its timers and its open files. Prints every distinct answer with how often it came, and how many children ended with an exit code but 0.
 */
public final class Children {
    private static final String ASK = "grep -E '^Sig(Blk|Ign|Cgt|Pnd)' /proc/self/status; grep -c ID: /proc/self/timers; "
            + "for f in /proc/self/fd/*; do readlink $f; done | grep -E '[.]jfr|[.]log' ; true";
    private static volatile boolean done;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        List<Thread> burners = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread burner = new Thread(Children::burn);
            burner.start();
            burners.add(burner);
        }
        TreeMap<String, Integer> answers = new TreeMap<>();
        int bad = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            try (RecordingContext context = RecordingContext.where("child", "number-" + i).build()) {
                Process child = new ProcessBuilder("/bin/sh", "-c", ASK).redirectErrorStream(true).start();
                child.getOutputStream().close();
                try (InputStream answer = child.getInputStream()) {
                    answers.merge(new String(answer.readAllBytes(), StandardCharsets.UTF_8), 1, Integer::sum);
                }
                bad += child.waitFor() == 0 ? 0 : 1;
            }
        }
        done = true;
        for (Thread burner : burners) {
            burner.join();
        }
        answers.forEach((answer, count) -> System.out.println(count + " children:\n" + answer));
        System.out.println("bad " + bad);
    }

    private static void burn() {
        while (!done) {
            sink = sink * 31 + 1;
        }
    }

    private Children() {
    }
}
