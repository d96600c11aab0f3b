import io.ctxagent.RecordingContext;
import java.util.List;

/**
 * Makes child processes by {@code fork} alone, from threads that have just begun and use CPU time
 * under a context, while other threads burn: {@code CHILDREN}. Prints what each child answered, if
 * it is not 0, how many there were, and what their parents used of CPU time under their contexts:
 * {@code parents NANOS}.
 */
public final class Forked {
    private static final long CHILD_MILLIS = 30;
    private static volatile boolean done;
    private static volatile long nanosOfParents;

    public static void main(String[] args) throws Exception {
        System.load(System.getenv("LD_PRELOAD"));
        List<Thread> burners = Threads.start(2, "burner", i -> {
            while (!done) {
                Work.spin(1_000);
            }
        });
        int children = Integer.parseInt(args[0]);
        for (int i = 0; i < children; i++) {
            int number = i;
            Threads.start("parent", () -> fork(number)).join();
        }
        done = true;
        Threads.join(burners);
        System.out.println("children " + children);
        System.out.println("parents " + nanosOfParents);
    }

    private static void fork(int number) {
        try (RecordingContext context =
                RecordingContext.where("child", "number-" + number).build()) {
            long begin = Cpu.usedByThisThread();
            Cpu.ofThisThread(20).burn();
            int status = child(CHILD_MILLIS);
            if (status != 0) {
                System.out.println("child " + number + " ended with status " + status);
            }
            nanosOfParents += Cpu.usedByThisThread() - begin; // one parent after the other
        }
    }

    /** The status of a child that used so much CPU time. */
    private static native int child(long millis);
}
