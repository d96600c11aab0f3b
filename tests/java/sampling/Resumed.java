import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that block at the end of a recursion and compute on the way back, so that their
 * callers are in the heap: {@code THREADS DEPTH MILLIS}. The label tells how many calls of {@code
 * descend} are active. They allocate, so that the collector moves the stack chunks.
 */
public final class Resumed {
    private static final RecordingContextKey CALLS = RecordingContextKey.forName("calls");
    private static String[] numbers;
    private static final byte[][] kept = new byte[1024][];
    private static Cpu budget;

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[1]);
        numbers = new String[depth + 2];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Integer.toString(i);
        }
        budget = Cpu.ofProcess(Long.parseLong(args[2]));
        List<Thread> threads =
                Threads.start(true, Integer.parseInt(args[0]), "resumed-", number -> task(depth));
        Threads.join(threads);
    }

    private static void task(int depth) {
        while (budget.isLeft()) {
            descend(1, depth);
        }
    }

    private static void descend(int calls, int depth) {
        if (calls <= depth) {
            descend(calls + 1, depth);
        } else {
            LockSupport.parkNanos(100_000);
        }
        try (RecordingContext context =
                RecordingContext.where(CALLS, numbers[calls]).build()) {
            kept[(calls * 37 + System.identityHashCode(Thread.currentThread())) & 1023] =
                    new byte[16_384];
            Work.spin(2_000);
        }
    }
}
