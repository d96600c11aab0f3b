import io.ctxagent.RecordingContext;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that come and go with contexts: {@code platform|virtual THREADS AT_A_TIME [leak|MILLIS]}.
 * With {@code leak}, each hundredth thread ends without closing its scope; with {@code MILLIS},
 * each platform thread uses that much CPU time under its contexts. Prints {@code ended N wrong M},
 * where wrong counts the threads that saw another's context.
 */
public final class Churn {
    public static void main(String[] args) throws Exception {
        boolean virtual = args[0].equals("virtual");
        int count = Integer.parseInt(args[1]);
        int atATime = Integer.parseInt(args[2]);
        String how = args.length > 3 ? args[3] : "";
        boolean leak = how.equals("leak");
        long millis = how.matches("[0-9]+") ? Long.parseLong(how) : 0;
        Semaphore room = new Semaphore(atATime);
        AtomicLong ended = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        for (int i = 0; i < count; i++) {
            room.acquire();
            int number = i;
            Threads.start(virtual, "churn-" + i, () -> {
                try {
                    if (!live(number, leak && number % 100 == 0, millis)) {
                        wrong.incrementAndGet();
                    }
                } finally {
                    ended.incrementAndGet();
                    room.release();
                }
            });
        }
        room.acquire(atATime);
        System.out.println("ended " + ended.get() + " wrong " + wrong.get());
    }

    /** A short life. Returns whether the context was this thread's all along. */
    private static boolean live(int number, boolean leak, long millis) {
        boolean right = RecordingContext.describe().equals("{}");
        RecordingContext outer =
                RecordingContext.where("tenant", "tenant-" + number % 7).build();
        String expected = RecordingContext.describe();
        try (RecordingContext inner =
                RecordingContext.where("request", "request-" + number % 1000).build()) {
            Cpu budget = millis > 0 ? Cpu.ofThisThread(millis) : null;
            do {
                Work.spin(2_000);
            } while (budget != null && budget.isLeft());
            Thread.yield();
        }
        right &= RecordingContext.describe().equals(expected);
        if (!leak) {
            outer.close();
            right &= RecordingContext.describe().equals("{}");
        }
        return right;
    }
}
