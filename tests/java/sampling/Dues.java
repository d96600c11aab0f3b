import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Loads whose threads know what CPU time they have used: {@code LOAD THREADS BURST_MICROS
 * SLEEP_MICROS MILLIS}. Half of the threads work in {@code phaseA} with the label {@code half=A},
 * in bursts twice as long as those of the other half.
 *
 * <p>LOAD is {@code bursts} (a sleep of 0: no pauses), {@code lives} (as many threads at once, each
 * lives for a burst), {@code virtual}, {@code gc} (bursts of garbage), {@code jit} (bursts in new
 * classes). Prints {@code due NAME NANOS} for each name of threads, as long as the kernel keeps
 * it, and {@code label HALF WORK}, in nanoseconds or for virtual threads in turns of a loop.
 */
public final class Dues {
    private static final Map<String, Long> dues = new TreeMap<>();
    private static final LongAdder workA = new LongAdder();
    private static final LongAdder workB = new LongAdder();
    private static volatile long sink;
    private static volatile Object kept;
    private static double turnsPerMicro;

    public static void main(String[] args) throws Exception {
        String load = args[0];
        int threads = Integer.parseInt(args[1]);
        long burst = Long.parseLong(args[2]);
        long sleep = Long.parseLong(args[3]) * 1_000;
        calibrate();
        long end = System.nanoTime() + Long.parseLong(args[4]) * 1_000_000;
        CountDownLatch done = new CountDownLatch(threads);
        CountDownLatch counted = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) {
            boolean isA = i % 2 == 0;
            long turns = (long) (burst * turnsPerMicro * (isA ? 2 : 1));
            Threads.Body body = () -> {
                if (load.equals("lives")) {
                    startInTurn(isA, turns, end);
                } else {
                    work(load, isA, turns, sleep, end);
                }
                done.countDown();
                counted.await(); // it lives until its clock is read
            };
            if (load.equals("virtual")) {
                Threads.startVirtual(body);
            } else {
                Threads.startDaemon("due-" + i, body);
            }
        }
        done.await();
        addLiving();
        dues.forEach((name, nanos) -> System.out.println("due " + name + " " + nanos));
        System.out.println("label A " + workA.sum() + "\nlabel B " + workB.sum());
        counted.countDown();
    }

    /** A thread of a few lines of its own. */
    private static void startInTurn(boolean isA, long turns, long end) throws InterruptedException {
        String name = "life-" + (isA ? "A" : "B");
        while (System.nanoTime() < end) {
            Threads.start(name, () -> {
                        work("bursts", isA, turns, 0, 0);
                        synchronized (dues) {
                            dues.merge(name, Cpu.usedByThisThread(), Long::sum);
                        }
                    })
                    .join();
        }
    }

    /** Bursts until {@code end}, one at least. */
    private static void work(String load, boolean isA, long turns, long sleep, long end) {
        boolean isVirtual = load.equals("virtual");
        long bursts = 0;
        try (RecordingContext context =
                RecordingContext.where("half", isA ? "A" : "B").build()) {
            do {
                if (isA) {
                    phaseA(load, turns);
                } else {
                    phaseB(load, turns);
                }
                bursts++;
                if (sleep > 0) {
                    LockSupport.parkNanos(sleep); // sleeping is what the load is about
                }
            } while (System.nanoTime() < end);
        }
        (isA ? workA : workB).add(isVirtual ? bursts * turns : Cpu.usedByThisThread());
    }

    /** A name of its own, for profilers that know no labels. */
    private static void phaseA(String load, long turns) {
        burst(load, turns);
    }

    private static void phaseB(String load, long turns) {
        burst(load, turns);
    }

    private static void burst(String load, long turns) {
        switch (load) {
            case "gc" -> litter(turns);
            case "jit" -> runNewClass(turns);
            default -> spin(turns);
        }
    }

    private static void spin(long turns) {
        long x = sink;
        for (long i = 0; i < turns; i++) {
            x = x * 31 + i;
        }
        sink = x;
    }

    private static void litter(long turns) {
        for (long i = 0; i < turns / 64; i++) {
            byte[][] chain = new byte[4][];
            for (int part = 0; part < chain.length; part++) {
                chain[part] = new byte[64];
            }
            kept = chain;
        }
    }

    /** Work in a class of which the compilers know nothing. */
    private static void runNewClass(long turns) {
        try (InputStream file = Dues.class.getResourceAsStream("Dues$Unknown.class")) {
            Class<?> unknown = MethodHandles.lookup()
                    .defineHiddenClass(file.readAllBytes(), true)
                    .lookupClass();
            sink += (long) unknown.getMethod("run", long.class).invoke(null, turns);
        } catch (ReflectiveOperationException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Copied into a new class for each burst. */
    public static final class Unknown {
        public static long run(long turns) {
            StringBuilder text = new StringBuilder();
            for (long i = 0; i < turns / 32; i++) {
                text.append(i % 7).append(Long.hashCode(i));
                if (text.length() > 200) {
                    text = new StringBuilder(text.reverse().substring(100));
                }
            }
            return text.length();
        }
    }

    /** What the threads have used that live now, by the kernel's names. */
    private static void addLiving() throws IOException {
        List<Path> tasks = new ArrayList<>();
        try (DirectoryStream<Path> directory =
                Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            directory.forEach(tasks::add);
        }
        synchronized (dues) {
            Path main = Path.of(String.valueOf(ProcessHandle.current().pid()));
            for (Path task : tasks) {
                if (task.endsWith(main)) {
                    continue; // the launcher's thread: it works for the agent only
                }
                try {
                    String name = Files.readString(task.resolve("comm")).trim().replace(' ', '_');
                    String times = Files.readString(task.resolve("schedstat"));
                    dues.merge(name, Long.parseLong(times.split(" ")[0]), Long::sum);
                } catch (IOException e) {
                    continue; // it has ended meanwhile
                }
            }
        }
    }

    private static void calibrate() {
        spin(50_000_000); // warm
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long from = System.nanoTime();
            spin(2_000_000);
            best = Math.min(best, System.nanoTime() - from);
        }
        turnsPerMicro = 2_000_000.0 * 1_000 / best;
    }
}
