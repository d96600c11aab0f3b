import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.oracle.Truth;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Many threads change their context all the time and tell the oracle what it is; a storm of signals samples them.
 * Arguments: platform|virtual|both, threads, samples wanted, signals a second, longest run in seconds.
 */
public final class Oracle {
    private static final Object MONITOR = new Object();
    private static volatile double sink;
    private static final AtomicBoolean stop = new AtomicBoolean();

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        int threads = Integer.parseInt(args[1]);
        long wanted = Long.parseLong(args[2]);
        int rate = Integer.parseInt(args[3]);
        long end = System.nanoTime() + Long.parseLong(args[4]) * 1_000_000_000L;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int seed = i;
            Runnable body = () -> {
                try {
                    work(new SplittableRandom(seed), seed);
                } finally {
                    done.countDown();
                }
            };
            boolean virtual = kind.equals("virtual") || kind.equals("both") && i % 20 != 0;
            if (virtual) {
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            } else {
                new Thread(body, "worker-" + i).start();
            }
        }
        Truth.storm(rate);
        while (checked() < wanted && System.nanoTime() < end) {
            Thread.sleep(100); // polls a condition with a deadline
        }
        Truth.storm(0);
        stop.set(true);
        done.await();
        System.out.println(AgentControl.execute("status"));
        System.out.println("ORACLE-DONE");
    }

    private static long checked() {
        long sum = 0;
        for (String line : AgentControl.execute("status").split("\n")) {
            if (line.startsWith("oracle.right") || line.startsWith("oracle.wrong") || line.startsWith("oracle.missed")) {
                sum += Long.parseLong(line.substring(line.indexOf(' ') + 1).trim());
            }
        }
        return sum;
    }

    private static void work(SplittableRandom random, int seed) {
        while (!stop.get()) {
            long truth = 1 + random.nextInt(500);
            String value = "v" + truth;
            try (RecordingContext context = RecordingContext.where("a", value).where("b", value).build()) {
                bracket(truth, random);
                rest(random);
                bracket(truth, random);
                long inner = 1 + random.nextInt(500);
                String innerValue = "v" + inner;
                try (RecordingContext nested = RecordingContext.where("b", innerValue).where("a", innerValue).build()) {
                    bracket(inner, random);
                    rest(random);
                    bracket(inner, random);
                }
                bracket(truth, random);
            }
            bracket(-1, random);
            rest(random);
            bracket(-1, random);
        }
    }

    /** Work between two declarations; nothing in it may block, so the thread stays on its carrier. */
    private static void bracket(long truth, SplittableRandom random) {
        Truth.declare(truth);
        double x = 0;
        for (int i = random.nextInt(100_000); i > 0; i--) {
            x += Math.sqrt(i);
        }
        sink = x;
        Truth.declare(0);
    }

    private static void rest(SplittableRandom random) {
        switch (random.nextInt(6)) {
            case 0 -> Thread.yield();
            case 1 -> LockSupport.parkNanos(50_000);
            case 2 -> {
                synchronized (MONITOR) {
                    sink += 1;
                }
            }
            default -> { }
        }
    }
}
