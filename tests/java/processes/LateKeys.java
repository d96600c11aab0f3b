import io.ctxagent.RecordingContext;
import java.util.List;

/**
 * Allocates on three threads. On one of them, seven keys {@code late0} to {@code late6} are used
 * for the first time, one after the other, with the values {@code secret-0} to {@code secret-6};
 * then {@code shown}, with the value {@code found}.
 */
public final class LateKeys {
    private static final int KEYS = 7;
    private static volatile Object sink;
    private static volatile Object otherSink;
    private static volatile boolean done;

    public static void main(String[] args) throws Exception {
        List<Thread> others = Threads.start(2, "along", i -> allocateAlong());
        for (int i = 0; i < KEYS; i++) {
            allocate(50); // the writer is somewhere in its round when the next key comes
            try (RecordingContext context =
                    RecordingContext.where("late" + i, "secret-" + i).build()) {
                allocate(50);
            }
        }
        try (RecordingContext context = RecordingContext.where("shown", "found").build()) {
            allocate(100);
        }
        done = true;
        Threads.join(others);
    }

    private static void allocate(long cpuMillis) {
        Cpu budget = Cpu.ofProcess(cpuMillis);
        while (budget.isLeft()) {
            for (int i = 0; i < 100; i++) {
                sink = new byte[1000];
            }
        }
    }

    private static void allocateAlong() {
        while (!done) {
            otherSink = new byte[1000];
        }
    }
}
