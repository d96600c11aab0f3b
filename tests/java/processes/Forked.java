import io.ctxagent.RecordingContext;
import java.util.ArrayList;
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
    private static volatile long sink;
    private static volatile long nanosOfParents;

    public static void main(String[] args) throws Exception {
        System.load(System.getenv("LD_PRELOAD"));
        List<Thread> burners = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread burner = new Thread(Forked::burn);
            burner.start();
            burners.add(burner);
        }
        int children = Integer.parseInt(args[0]);
        for (int i = 0; i < children; i++) {
            int number = i;
            Thread parent = new Thread(() -> fork(number));
            parent.start();
            parent.join();
        }
        done = true;
        for (Thread burner : burners) {
            burner.join();
        }
        System.out.println("children " + children);
        System.out.println("parents " + nanosOfParents);
    }

    private static void fork(int number) {
        try (RecordingContext context = RecordingContext.where("child", "number-" + number)
                .build()) {
            long begin = Cpu.usedByThisThread();
            Cpu budget = Cpu.ofThisThread(20);
            while (budget.isLeft()) {
                sink++;
            }
            int status = child(CHILD_MILLIS);
            if (status != 0) {
                System.out.println("child " + number + " ended with status " + status);
            }
            nanosOfParents += Cpu.usedByThisThread() - begin; // one parent after the other
        }
    }

    /** The status of a child that used so much CPU time. */
    private static native int child(long millis);

    private static void burn() {
        while (!done) {
            sink = sink * 31 + 1;
        }
    }

    private Forked() {
    }
}
