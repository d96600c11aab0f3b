import io.ctxagent.RecordingContext;
import java.io.File;
import java.lang.reflect.Method;

/**
 * Threads that work under a context from before the agent is there until a file {@code done} is in
 * the working directory. On JDK 21 and later one of them is virtual.
 */
public final class WorkBeforeAttach {
    private static volatile boolean done;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        Thread platform = new Thread(() -> work("platform"), "late-platform");
        platform.start();
        Thread virtual = null;
        if (Runtime.version().feature() >= 21) {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            virtual = (Thread) start.invoke(null, (Runnable) () -> work("virtual"));
        }
        System.out.println("ready");
        File file = new File("done");
        while (!file.exists()) {
            Thread.sleep(10);
        }
        done = true;
        platform.join();
        if (virtual != null) {
            virtual.join();
        }
        System.out.println("finished");
    }

    private static void work(String kind) {
        while (!done) {
            try (RecordingContext context = RecordingContext.where("kind", kind).build()) {
                long x = sink | 1;
                for (int i = 0; i < 200_000; i++) {
                    x ^= x << 13;
                    x ^= x >>> 7;
                    x ^= x << 17;
                }
                sink = x;
            }
            Thread.yield();
        }
    }

    private WorkBeforeAttach() {
    }
}
