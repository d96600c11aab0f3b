import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.List;

/**
 * A class that is redefined again and again while threads run its methods: {@code MILLIS} of CPU
 * time. Started with itself as {@code -javaagent}, in a jar of its own. Prints {@code redefined N}.
 *
 * <p>{@code MILLIS changed}: each time with another constant in both methods, while a thread stays
 * in {@code endless} for all of its {@code MILLIS} of CPU time. {@code MILLIS moved}: once, at half
 * time, with all lines {@value #DOWN} further down. From when the agent must know of it, the work
 * is under the context {@code version=new}.
 */
public final class Redefined {
    private static final int DOWN = 1000;

    private static Instrumentation instrumentation;
    private static volatile boolean isKnown;
    private static volatile boolean done;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        long millis = Long.parseLong(args[0]);
        String how = args.length > 1 ? args[1] : "same";
        if (how.equals("changed")) {
            changed(millis);
            return;
        }
        List<Thread> workers = Threads.start(2, "redefined", i -> work());
        int times = how.equals("moved") ? once(millis) : againAndAgain(millis);
        done = true;
        Threads.join(workers);
        System.out.println("redefined " + times);
    }

    private static void work() {
        while (!done) {
            if (isKnown) {
                try (RecordingContext context =
                        RecordingContext.where("version", "new").build()) {
                    Target.outer(2_000);
                }
            } else {
                Target.outer(2_000);
            }
        }
    }

    private static int againAndAgain(long millis) throws Exception {
        byte[] same = bytesOf("Redefined$Target.class");
        Cpu budget = Cpu.ofProcess(millis);
        int times = 0;
        while (budget.isLeft()) {
            instrumentation.redefineClasses(new ClassDefinition(Target.class, same));
            times++;
            Thread.sleep(20);
        }
        return times;
    }

    private static int once(long millis) throws Exception {
        byte[] moved = moved(bytesOf("Redefined$Target.class"));
        let(millis / 2);
        instrumentation.redefineClasses(new ClassDefinition(Target.class, moved));
        awaitLook();
        isKnown = true;
        let(millis / 2);
        return 1;
    }

    /** Lets the workers use this much CPU time. */
    private static void let(long millis) throws InterruptedException {
        Cpu budget = Cpu.ofProcess(millis);
        while (budget.isLeft()) {
            Thread.sleep(20);
        }
    }

    /**
     * Returns when the writer, which looks for redefined classes once a second, has begun and ended
     * a look.
     */
    private static void awaitLook() throws InterruptedException {
        AgentControl.execute("dump"); // a look that had begun has ended
        long end = System.nanoTime() + 1_000_000_000;
        while (System.nanoTime() < end) {
            Thread.sleep(20);
        }
        AgentControl.execute("dump"); // the one that is due by now comes before the answer
    }

    private static void changed(long millis) throws Exception {
        byte[] bytes = bytesOf("Redefined$Changing.class");
        Thread worker = Threads.start(
                "redefined-changing", () -> Changing.endless(Cpu.ofThisThread(millis)));
        int times = 0;
        while (worker.isAlive()) {
            change(bytes);
            instrumentation.redefineClasses(new ClassDefinition(Changing.class, bytes));
            times++;
            // By CPU time: on a busy machine the worker gets as much between two as on an idle one.
            Cpu until = Cpu.ofProcess(20);
            while (until.isLeft()) {
                Thread.sleep(5);
            }
        }
        worker.join();
        System.out.println("redefined " + times);
    }

    private static byte[] bytesOf(String file) throws Exception {
        try (InputStream in = Redefined.class.getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }

    /** Another low byte for each {@link Changing#MARK}. */
    private static void change(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes);
        int found = 0;
        for (int i = 0; i + 8 <= bytes.length; i++) {
            if (file.getLong(i) >>> 8 == Changing.MARK >>> 8) {
                bytes[i + 7]++;
                found++;
            }
        }
        if (found == 0) {
            throw new AssertionError("no constant to change");
        }
    }

    /** A copy of a class file, with {@link #DOWN} added to each line. */
    private static byte[] moved(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes.clone());
        int tables = 0;
        int name = indexOfText(file, "LineNumberTable");
        // An attribute: name, length, number of pairs (index, line).
        for (int i = 0; i + 8 <= bytes.length; i++) {
            int pairs = file.getShort(i + 6);
            if (file.getShort(i) == name && pairs > 0 && file.getInt(i + 2) == 2 + 4 * pairs) {
                for (int pair = 0; pair < pairs; pair++) {
                    int line = i + 8 + 4 * pair + 2;
                    file.putShort(line, (short) (file.getShort(line) + DOWN));
                }
                tables++;
            }
        }
        if (tables == 0) {
            throw new AssertionError("no lines to move");
        }
        return file.array();
    }

    /** Its number in the constant pool. */
    private static int indexOfText(ByteBuffer file, String text) {
        int at = 10;
        for (int index = 1; index < file.getShort(8); index++) {
            int tag = file.get(at);
            if (tag == 1) {
                byte[] found = new byte[file.getShort(at + 1)];
                file.get(at + 3, found);
                if (text.equals(new String(found, StandardCharsets.UTF_8))) {
                    return index;
                }
                at += found.length;
            }
            // Text, long, double: a long takes two numbers. Class, string, method type, module,
            // package. Method handle. Others.
            at += switch (tag) {
                case 1, 7, 8, 16, 19, 20 -> 3;
                case 5, 6 -> 9;
                case 15 -> 4;
                default -> 5;
            };
            index += tag == 5 || tag == 6 ? 1 : 0;
        }
        throw new AssertionError(text);
    }

    /** What is redefined with other constants. */
    static final class Changing {
        static final long MARK = 0x5eed_0fac_eb1e_5500L;
        private static volatile long sink;

        static void endless(Cpu budget) {
            while (budget.isLeft()) {
                for (int i = 0; i < 200; i++) {
                    sink = outer(i) ^ MARK;
                }
            }
        }

        private static long outer(int i) {
            long sum = MARK;
            for (int k = 0; k < 20; k++) {
                sum += inner(i + k);
            }
            return sum;
        }

        private static long inner(int i) {
            long x = i | 1;
            for (int k = 0; k < 50; k++) {
                x = x * MARK + k;
            }
            return x;
        }
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
}
