import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that do little else than block, at the end of recursions of all depths: {@code
 * THREADS DEPTH MILLIS}. The label tells, while a thread blocks, how many calls of {@code descend}
 * are active. They allocate, so that the collector moves the stack chunks.
 */
public final class Parking {
    private static final RecordingContextKey CALLS = RecordingContextKey.forName("calls");
    private static final byte[][] kept = new byte[1024][];
    private static String[] numbers;
    private static Cpu budget;

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[1]);
        numbers = new String[depth + 1];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Integer.toString(i);
        }
        budget = Cpu.ofProcess(Long.parseLong(args[2]));
        List<Thread> threads =
                Threads.start(true, Integer.parseInt(args[0]), "parking-", number -> task(depth));
        Threads.join(threads);
    }

    private static void task(int depth) throws InterruptedException {
        while (budget.isLeft()) {
            for (int i = 0; i < 16; i++) {
                descend(1, 1 + ThreadLocalRandom.current().nextInt(depth));
            }
        }
    }

    private static int descend(int calls, int depth) throws InterruptedException {
        if (calls < depth) {
            int deepest = descend(calls + 1, depth);
            kept[calls * 31 & 1023] = new byte[512];
            return deepest;
        }
        try (RecordingContext context =
                RecordingContext.where(CALLS, numbers[calls]).build()) {
            for (int i = 0; i < 8; i++) {
                block(ThreadLocalRandom.current().nextInt(8));
            }
        }
        return depth;
    }

    private static void block(int how) throws InterruptedException {
        if (how == 0) {
            Thread.sleep(1);
        } else if (how < 4) {
            LockSupport.parkNanos(kept, 1_000);
        } else {
            Thread.yield();
        }
    }
}
