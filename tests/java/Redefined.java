import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;

/**
 * A class that is redefined again and again while threads run its methods: {@code MILLIS} of CPU time. Started with itself as {@code -javaagent}, in
 * a jar of its own. Prints {@code redefined N}.
 */
public final class Redefined {
    private static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        Cpu budget = Cpu.ofProcess(Long.parseLong(args[0]));
        byte[] same;
        try (InputStream in = Redefined.class.getResourceAsStream("Redefined$Target.class")) {
            same = in.readAllBytes();
        }
        Thread[] workers = new Thread[2];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(() -> {
                while (budget.isLeft()) {
                    Target.outer(2_000);
                }
            }, "redefined-" + i);
            workers[i].start();
        }
        int times = 0;
        while (budget.isLeft()) {
            instrumentation.redefineClasses(new ClassDefinition(Target.class, same));
            times++;
            Thread.sleep(20);
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("redefined " + times);
    }

    /** What is redefined. */
    static final class Target {
        private static volatile long sink;

        static void outer(int n) {
            long sum = 0;
            for (int i = 0; i < n; i++) {
                sum += inner(i);
            }
            sink = sum;
        }

        private static long inner(int i) {
            long x = i | 1;
            for (int k = 0; k < 50; k++) {
                x = x * 6_364_136_223_846_793_005L + k;
            }
            return x;
        }
    }

    private Redefined() {
    }
}
