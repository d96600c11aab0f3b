import io.ctxagent.RecordingContext;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Threads that use CPU 70/20/10 under three values of {@code label}: {@code platform|virtual
 * SECONDS} of CPU time.
 *
 * <p>Bursts have random lengths, so that nothing is in step with a timer. Prints what was really
 * used for each label, as parts of a thousand: on platform threads the CPU time that the kernel
 * counted, on virtual threads (200 of them, which sleep and yield between bursts) the units of
 * work, which are all the same. A line for each label: {@code split LABEL PER_MILLE
 * NANOS_OR_UNITS}.
 */
public final class KnownSplit {
    private static final String[] LABELS = {"seventy", "twenty", "ten"};
    private static final int[] PERCENT = {70, 20, 10};
    private static final int VIRTUAL = 200;
    private static final int PLATFORM = 4;

    private final AtomicLongArray used = new AtomicLongArray(LABELS.length);
    private final AtomicLong sink = new AtomicLong();

    public static void main(String[] args) throws Exception {
        new KnownSplit().run(args[0].equals("virtual"), Long.parseLong(args[1]));
    }

    private void run(boolean virtual, long seconds) throws Exception {
        // Compiled code from here on: the first units must not cost more than the last.
        for (int i = 0; i < 3_000; i++) {
            seventy(1);
            twenty(1);
            ten(1);
        }
        Cpu budget = Cpu.ofProcess(1000 * seconds);
        Threads.join(
                virtual
                        ? Threads.start(
                                true, VIRTUAL, "", i -> workOnVirtual(new Random(i), budget))
                        : Threads.start(
                                PLATFORM, "worker", i -> workOnPlatform(new Random(i), budget)));
        long all = 0;
        for (int label = 0; label < LABELS.length; label++) {
            all += used.get(label);
        }
        for (int label = 0; label < LABELS.length; label++) {
            System.out.println("split " + LABELS[label] + " "
                    + Math.round(1000.0 * used.get(label) / all) + " " + used.get(label));
        }
    }

    /** Keeps the shares on course: the label that lags behind its share is next. */
    private static int next(long[] done) {
        int next = 0;
        for (int label = 1; label < LABELS.length; label++) {
            if (done[label] * PERCENT[next] < done[next] * PERCENT[label]) {
                next = label;
            }
        }
        return next;
    }

    private void workOnPlatform(Random random, Cpu budget) {
        long[] nanos = new long[LABELS.length];
        while (budget.isLeft()) {
            int label = next(nanos);
            int units = 1 + random.nextInt(80);
            try (RecordingContext context =
                    RecordingContext.where("label", LABELS[label]).build()) {
                long before = Cpu.usedByThisThread();
                burst(label, units);
                nanos[label] += Cpu.usedByThisThread() - before;
            }
        }
        add(nanos);
    }

    private void workOnVirtual(Random random, Cpu budget) throws InterruptedException {
        long[] units = new long[LABELS.length];
        while (budget.isLeft()) {
            int label = next(units);
            int burst = 1 + random.nextInt(40);
            try (RecordingContext context =
                    RecordingContext.where("label", LABELS[label]).build()) {
                burst(label, burst);
                // In the context too: it must come along to another carrier.
                if (random.nextBoolean()) {
                    Thread.yield();
                } else {
                    Thread.sleep(1 + random.nextInt(3));
                }
                burst(label, burst);
            }
            units[label] += 2L * burst;
            Thread.sleep(random.nextInt(3));
        }
        add(units);
    }

    private void add(long[] mine) {
        for (int label = 0; label < LABELS.length; label++) {
            used.addAndGet(label, mine[label]);
        }
    }

    private void burst(int label, int units) {
        switch (label) {
            case 0:
                sink.lazySet(seventy(units));
                break;
            case 1:
                sink.lazySet(twenty(units));
                break;
            default:
                sink.lazySet(ten(units));
        }
    }

    private static long seventy(int units) {
        long x = 1;
        for (int i = 0; i < units * 20_000; i++) {
            x = x * 6_364_136_223_846_793_005L + 1;
        }
        return x;
    }

    private static long twenty(int units) {
        long x = 2;
        for (int i = 0; i < units * 20_000; i++) {
            x = x * 6_364_136_223_846_793_005L + 1;
        }
        return x;
    }

    private static long ten(int units) {
        long x = 3;
        for (int i = 0; i < units * 20_000; i++) {
            x = x * 6_364_136_223_846_793_005L + 1;
        }
        return x;
    }
}
