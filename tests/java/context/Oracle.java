import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.oracle.Truth;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Many threads change their context all the time and tell the oracle what it is, also while they
 * change it; a storm of signals, or the agent's own timers, sample them. Arguments:
 * platform|virtual|both, threads, samples wanted, signals a second (0 = timers only), longest run
 * in seconds, longest piece of work in loops, a bug to plant, and rounds of work that one thread of
 * each kind does alone before the others begin. The samples wanted are those from then on; what was
 * counted before is told as {@code before.right} and so on. With a bug it ends at the first wrong
 * one.
 */
public final class Oracle {
    private static final int CONTEXTS = 500;
    private static final int SHORT = 400;
    private static final String[] VALUES = new String[CONTEXTS + 1];
    private static final RecordingContextKey A = RecordingContextKey.forName("a");
    private static final RecordingContextKey B = RecordingContextKey.forName("b");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("c");
    private static final Object MONITOR = new Object();
    private static final AtomicBoolean STOP = new AtomicBoolean();
    /**
     * Times that a thread gave up its carrier on purpose: a virtual one is mounted again after
     * each.
     */
    private static final LongAdder LEAVES = new LongAdder();

    private static volatile double sink;
    private static int longest;

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        int threads = Integer.parseInt(args[1]);
        long wanted = Long.parseLong(args[2]);
        int rate = Integer.parseInt(args[3]);
        long end = System.nanoTime() + Long.parseLong(args[4]) * 1_000_000_000L;
        longest = args.length > 5 ? Integer.parseInt(args[5]) : 100_000;
        warmUp();
        int bug = args.length > 6 ? Integer.parseInt(args[6]) : 0;
        int alone = args.length > 7 ? Integer.parseInt(args[7]) : 0;
        Truth.plant(bug);
        if (rate > 0) {
            Truth.storm(rate);
        }
        if (alone > 0) {
            workAlone(kind, alone);
        }
        long before = checked();
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            SplittableRandom random = new SplittableRandom(i);
            boolean virtual = kind.equals("virtual") || kind.equals("both") && i % 20 != 0;
            Threads.start(virtual, "worker-" + i, () -> {
                try {
                    while (!STOP.get()) {
                        work(random);
                    }
                } finally {
                    done.countDown();
                }
            });
        }
        while (checked() - before < wanted
                && (bug == 0 || counted("wrong") == 0)
                && System.nanoTime() < end) {
            Thread.sleep(100); // polls a condition with a deadline
        }
        Truth.storm(0);
        STOP.set(true);
        done.await();
        System.out.println(AgentControl.execute("status"));
        System.out.println("oracle.leaves: " + LEAVES.sum());
        System.out.println("ORACLE-DONE");
    }

    /**
     * All values get their ids and all classes are there before anything is declared: both may
     * block.
     */
    private static void warmUp() {
        for (int i = 1; i <= CONTEXTS; i++) {
            VALUES[i] = "v" + i;
            RecordingContext context = open(i);
            RecordingContext.Snapshot snapshot = RecordingContext.snapshot();
            context.close();
            snapshot.activate().close();
        }
    }

    /**
     * One thread of each kind: where the VM compiles in the foreground, all that come later meet
     * compiled code. Its pieces of work are short.
     */
    private static void workAlone(String kind, int rounds) throws Exception {
        int usual = longest;
        longest = SHORT;
        for (boolean virtual : new boolean[] {false, true}) {
            if (kind.equals(virtual ? "platform" : "virtual")) {
                continue;
            }
            Threads.start(virtual, "alone", () -> {
                        SplittableRandom random = new SplittableRandom(rounds);
                        for (int i = 0; i < rounds; i++) {
                            work(random);
                        }
                    })
                    .join();
        }
        longest = usual;
        AgentControl.execute("dump"); // what was sampled until now is counted
        counts("right|wrong|missed|torn")
                .forEach(line -> System.out.println(line.replace("oracle.", "before.")));
    }

    private static long checked() {
        return counted("right|wrong|missed|torn");
    }

    /** The sum of these counters. */
    private static long counted(String names) {
        return counts(names)
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(' ') + 1).trim()))
                .sum();
    }

    /** The lines of these counters. */
    private static Stream<String> counts(String names) {
        return AgentControl.execute("status")
                .lines()
                .filter(line -> line.matches("oracle\\.(" + names + "): .*"));
    }

    private static RecordingContext open(int context) {
        String value = VALUES[context];
        return RecordingContext.where(A, value)
                .where(B, value)
                .where(RAW, value)
                .build();
    }

    /** One round: six changes. */
    private static void work(SplittableRandom random) {
        int outer = 1 + random.nextInt(CONTEXTS);
        int inner = 1 + random.nextInt(CONTEXTS);
        Truth.change(Truth.NONE, outer);
        RecordingContext context = open(outer);
        bracket(outer, random);
        rest(random);
        Truth.change(outer, inner);
        RecordingContext nested = open(inner);
        bracket(inner, random);
        rest(random);
        Truth.change(inner, outer);
        nested.close();
        bracket(outer, random);
        RecordingContext.Snapshot snapshot = RecordingContext.snapshot();
        Truth.change(outer, Truth.NONE);
        context.close();
        bracket(Truth.NONE, random);
        rest(random);
        Truth.change(Truth.NONE, outer);
        RecordingContext.Activation activation = snapshot.activate();
        bracket(outer, random);
        rest(random);
        Truth.change(outer, Truth.NONE);
        activation.close();
        bracket(Truth.NONE, random);
    }

    /**
     * Work under a context that stays; nothing in it may block, so the thread stays on its carrier.
     */
    private static void bracket(int context, SplittableRandom random) {
        Truth.declare(context);
        double x = 0;
        for (int i = random.nextInt(longest); i > 0; i--) {
            x += Math.sqrt(i);
            if ((i & 0xfff) == 0 && STOP.get()) {
                break; // 100 000 threads, one after the other
            }
        }
        sink = x;
        Truth.declare(0);
    }

    private static void rest(SplittableRandom random) {
        switch (random.nextInt(6)) {
            case 0 -> {
                LEAVES.increment();
                Thread.yield();
            }
            case 1 -> {
                LEAVES.increment();
                LockSupport.parkNanos(50_000);
            }
            case 2 -> {
                synchronized (MONITOR) {
                    sink += 1;
                }
            }
            default -> {}
        }
    }
}
