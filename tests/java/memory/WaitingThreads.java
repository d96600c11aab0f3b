import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that all hold a context and wait, while another one works with ever new values and
 * stacks: {@code platform|virtual THREADS MILLIS}, CPU time of that work. Tells the resident memory
 * ten times meanwhile, as {@code resident KIB}.
 */
public final class WaitingThreads {
    private static final RecordingContextKey NAME = RecordingContextKey.forName("name");
    private static final RecordingContextKey REQUEST = RecordingContextKey.forName("request");
    private static final int REPORTS = 10;
    private static final int DEEPEST = 40;
    /** Frames of the interpreter: more than 32 KiB. */
    private static final int FRAMES = 400;

    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        long millis = Long.parseLong(args[2]);
        CountDownLatch waiting = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        Threads.start(
                args[0].equals("virtual"), threads, "name", i -> hold("name-" + i, waiting, go));
        waiting.await();
        for (int report = 0; report < REPORTS; report++) {
            Cpu budget = Cpu.ofThisThread(millis / REPORTS);
            while (budget.isLeft()) {
                request();
            }
            System.out.println("resident " + Resident.kib());
        }
        go.countDown();
        System.out.println("requests " + sink);
    }

    private static void hold(String name, CountDownLatch waiting, CountDownLatch go)
            throws InterruptedException {
        touch(FRAMES);
        try (RecordingContext context = RecordingContext.where(NAME, name).build()) {
            waiting.countDown();
            go.await();
        }
    }

    /** The pages of the stack that a signal in the wait may need are there with or without one. */
    private static int touch(int frames) {
        return frames == 0 ? 0 : touch(frames - 1) + 1;
    }

    private static void request() {
        long n = ++sink;
        try (RecordingContext context =
                RecordingContext.where(REQUEST, "request-" + n).build()) {
            descend((int) (n % DEEPEST), n);
        }
    }

    /**
     * As many stacks as there are numbers of this many bits: each bit chooses the method of one
     * frame.
     */
    private static long descend(int depth, long choices) {
        if (depth == 0) {
            return choices;
        }
        return (choices >> depth % 20 & 1) == 0
                ? left(depth - 1, choices)
                : descend(depth - 1, choices) + 1;
    }

    private static long left(int depth, long choices) {
        return descend(depth, choices) * 3;
    }
}
