import java.util.concurrent.atomic.AtomicLong;

/**
 * A program to load an agent into, without any context: {@code burn THREADS MILLIS}, {@code serve},
 * {@code exit KIND}.
 *
 * <p>Its stdout does not depend on timing in mode {@code exit}, so that a run with the agent can be
 * compared with one without.
 */
public final class Target {
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
        Threads.run(count, "burner", i -> {
            work(millis * 1_000_000);
            used.addAndGet(Cpu.usedByThisThread());
        });
        System.out.println("burners used " + used.get() + " ns");
    }

    /**
     * Uses half of a core until a file {@code done} is in the working directory: the other half is
     * for those who command it.
     */
    private static void serve() throws InterruptedException {
        Threads.startDaemon("server", () -> {
            while (true) {
                spin(200_000);
                Thread.sleep(1);
            }
        });
        System.out.println("ready");
        Threads.awaitFile("done");
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
        while (Cpu.usedByThisThread() < nanosOfCpu) {
            spin(100_000);
        }
    }

    private static void spin(int rounds) {
        Work.spin(rounds);
    }

    private static long fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }
}
