import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program to load an agent into, without any context: {@code burn THREADS MILLIS}, {@code serve},
 * {@code exit KIND}.
 *
 * <p>Its stdout does not depend on timing in mode {@code exit}, so that a run with the agent can be
 * compared with one without.
 */
public final class Target {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "burn":
                burn(Integer.parseInt(args[1]), Long.parseLong(args[2]));
                break;
            case "serve":
                serve();
                break;
            case "exit":
                exit(args[1]);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    /** Threads that each use so much CPU time, and what they used as the JVM counts it. */
    private static void burn(int count, long millis) throws InterruptedException {
        AtomicLong used = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                work(millis * 1_000_000);
                used.addAndGet(THREADS.getCurrentThreadCpuTime());
            }, "burner-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("burners used " + used.get() + " ns");
    }

    /** Uses CPU time until a file {@code done} is in the working directory. */
    private static void serve() throws InterruptedException {
        Thread thread = new Thread(() -> {
            while (true) {
                spin(100_000);
            }
        }, "server");
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready");
        File done = new File("done");
        while (!done.exists()) {
            Thread.sleep(10);
        }
        System.out.println("answer " + fibonacci(20));
    }

    private static void exit(String kind) {
        work(300_000_000L);
        System.out.println("answer " + fibonacci(20));
        switch (kind) {
            case "return":
                return;
            case "exit":
                System.exit(0);
                return;
            case "exit3":
                System.exit(3);
                return;
            case "halt":
                Runtime.getRuntime().halt(4);
                return;
            case "uncaught":
                throw new IllegalStateException("on purpose");
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static void work(long nanosOfCpu) {
        while (THREADS.getCurrentThreadCpuTime() < nanosOfCpu) {
            spin(100_000);
        }
    }

    private static void spin(int rounds) {
        long x = sink | 1;
        for (int i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        sink = x;
    }

    private static long fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private Target() {
    }
}
