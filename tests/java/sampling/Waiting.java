import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Platform threads that wait, each with a label of its own: {@code THREADS}. Before them others do
 * the same and end, so that most of what they run is compiled. Prints what the process has in
 * memory, in KiB: {@code stacks}, those of threads, and {@code other}.
 */
public final class Waiting {
    private static final int AT_ONCE = 50;
    private static final int ROUNDS = 100;
    /** Of a thread's stack of one MiB, without its guard pages. */
    private static final long MIN_STACK = 900 << 10;

    private static final long MAX_STACK = 1040 << 10;

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            CountDownLatch end = new CountDownLatch(1);
            List<Thread> threads = start(AT_ONCE, end);
            end.countDown();
            Threads.join(threads);
        }
        start(Integer.parseInt(args[0]), new CountDownLatch(1));
        // What is due now takes place: a signal that meets a waiting thread, a look at it.
        Cpu.ofThisThread(1000).burn();
        System.gc();
        print();
        System.exit(0);
    }

    private static List<Thread> start(int count, CountDownLatch end) throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(count);
        List<Thread> threads = Threads.start(count, "waiting", i -> {
            String label = "label-" + i % 1000;
            try (RecordingContext context =
                    RecordingContext.where("label", label).build()) {
                waiting.countDown();
                end.await();
            }
        });
        waiting.await();
        return threads;
    }

    private static void print() throws IOException {
        long stacks = 0;
        long other = 0;
        boolean isStack = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            String[] words = line.split(" +");
            if (words[0].matches("[0-9a-f]+-[0-9a-f]+")) {
                String[] ends = words[0].split("-");
                long size =
                        Long.parseUnsignedLong(ends[1], 16) - Long.parseUnsignedLong(ends[0], 16);
                isStack = words.length == 5
                        && words[1].equals("rw-p")
                        && size >= MIN_STACK
                        && size <= MAX_STACK;
            } else if (words[0].equals("Rss:")) {
                long kib = Long.parseLong(words[1]);
                stacks += isStack ? kib : 0;
                other += isStack ? 0 : kib;
            }
        }
        System.out.println("stacks " + stacks);
        System.out.println("other " + other);
    }
}
