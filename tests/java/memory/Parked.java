import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Very many virtual threads that all hold a context while they wait. Arguments: threads. Tells the
 * resident memory before and with them.
 */
public final class Parked {
    private static final RecordingContextKey NAME = RecordingContextKey.forName("name");

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        boolean contexts = args.length < 2 || !args[1].equals("none");
        CountDownLatch waiting = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger bound = new AtomicInteger();
        System.out.println("resident before: " + Resident.kib());
        List<Thread> parked = Threads.start(true, threads, "", i -> {
            if (contexts) {
                String name = "name-" + i % 1000;
                try (RecordingContext context =
                        RecordingContext.where(NAME, name).build()) {
                    hold(waiting, go, bound);
                }
            } else {
                hold(waiting, go, bound);
            }
        });
        waiting.await();
        System.out.println("resident with all: " + Resident.kib());
        go.countDown();
        Threads.join(parked);
        System.out.println(AgentControl.execute("status"));
        System.out.println("bound: " + bound);
    }

    private static void hold(CountDownLatch waiting, CountDownLatch go, AtomicInteger bound)
            throws InterruptedException {
        waiting.countDown();
        go.await();
        if (NAME.isBound()) {
            bound.incrementAndGet();
        }
    }
}
