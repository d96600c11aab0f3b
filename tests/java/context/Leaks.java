import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that end with a scope open, beside some that live and keep theirs. Arguments:
 * platform|virtual, living, leaking threads a round, rounds, and whether blocks are expected to
 * come back.
 */
public final class Leaks {
    private static final RecordingContextKey NAME = RecordingContextKey.forName("name");
    private static volatile boolean over;

    public static void main(String[] args) throws Exception {
        boolean virtual = args[0].equals("virtual");
        int living = Integer.parseInt(args[1]);
        int leaking = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        boolean comeBack = Boolean.parseBoolean(args[4]);
        AtomicInteger kept = new AtomicInteger();
        CountDownLatch open = new CountDownLatch(living);
        List<Thread> threads =
                Threads.start(virtual, living, "living", i -> live("living-" + i, open, kept));
        open.await();
        for (int round = 0; round < rounds; round++) {
            Threads.join(Threads.start(
                    virtual,
                    leaking,
                    "leaking",
                    i -> RecordingContext.where(NAME, "leaked").build()));
            if (comeBack) {
                awaitRoom(virtual);
            }
        }
        over = true;
        threads.forEach(LockSupport::unpark);
        Threads.join(threads);
        System.out.println(AgentControl.execute("status"));
        System.out.println("kept: " + kept);
    }

    /**
     * Until new threads all get a block: what was leaked has been taken back. A deadline is the
     * test's time limit.
     */
    private static void awaitRoom(boolean virtual) throws Exception {
        int without;
        do {
            AtomicInteger refused = new AtomicInteger();
            Threads.join(Threads.start(virtual, 64, "probe", i -> {
                try (RecordingContext context =
                        RecordingContext.where(NAME, "probe").build()) {
                    if (!NAME.isBound()) {
                        refused.incrementAndGet();
                    }
                }
            }));
            without = refused.get();
        } while (without > 0);
    }

    private static void live(String name, CountDownLatch open, AtomicInteger kept) {
        try (RecordingContext context = RecordingContext.where(NAME, name).build()) {
            open.countDown();
            while (!over) {
                LockSupport.park();
            }
            if (RecordingContext.describe().contains(name)) {
                kept.incrementAndGet();
            }
        }
    }
}
