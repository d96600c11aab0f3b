import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Very many virtual threads that all hold a context while they wait. Arguments: threads. Tells the
 * resident memory before and with them.
 */
public final class Parked {
    private static final RecordingContextKey NAME = RecordingContextKey.forName("name");

    private Parked() {
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        boolean contexts = args.length < 2 || !args[1].equals("none");
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch waiting = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(threads);
        AtomicInteger bound = new AtomicInteger();
        System.out.println("resident before: " + resident());
        for (int i = 0; i < threads; i++) {
            String name = "name-" + i % 1000;
            start.invoke(null, (Runnable) () -> {
                if (contexts) {
                    try (RecordingContext context = RecordingContext.where(NAME, name).build()) {
                        hold(waiting, go, bound);
                    }
                } else {
                    hold(waiting, go, bound);
                }
                done.countDown();
            });
        }
        waiting.await();
        System.out.println("resident with all: " + resident());
        go.countDown();
        done.await();
        System.out.println(AgentControl.execute("status"));
        System.out.println("bound: " + bound);
    }

    private static void hold(CountDownLatch waiting, CountDownLatch go, AtomicInteger bound) {
        waiting.countDown();
        try {
            go.await();
        } catch (InterruptedException nobodyDoes) {
            throw new IllegalStateException(nobodyDoes);
        }
        if (NAME.isBound()) {
            bound.incrementAndGet();
        }
    }

    private static String resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return line.replaceAll("[^0-9]", "");
            }
        }
        return "?";
    }
}
