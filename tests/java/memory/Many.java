import io.ctxagent.RecordingContext;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that live for milliseconds and classes that come and go, under contexts: {@code Many
 * THREADS}. On JDK 21 and later every second thread is virtual. Prints a checksum that does not
 * depend on timing.
 */
public final class Many {
    private static final AtomicLong SUM = new AtomicLong();

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        byte[] code = bytesOf(Worker.class);
        ArrayDeque<Thread> running = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            // A class of its own for each worker, garbage as soon as it is done.
            Runnable body = i % 10 == 0 ? new OneClass(code).worker(number) : new Worker(number);
            boolean virtual = i % 2 == 1 && Threads.hasVirtual();
            running.add(Threads.start(virtual, "many-" + i, body::run));
            if (running.size() > 16) {
                running.poll().join();
            }
            if (i % 500 == 499) {
                System.gc();
            }
        }
        while (!running.isEmpty()) {
            running.poll().join();
        }
        System.out.println("sum " + SUM.get());
    }

    public static void add(long value) {
        SUM.addAndGet(value);
    }

    /** What a thread does. */
    public static final class Worker implements Runnable {
        private final int number;

        public Worker(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            try (RecordingContext context =
                    RecordingContext.where("worker", "w" + number % 50).build()) {
                long x = number + 1;
                for (int i = 0; i < 200_000; i++) {
                    x = x * 6364136223846793005L + 1442695040888963407L;
                }
                Many.add(x >>> 60);
                try (RecordingContext inner =
                        RecordingContext.where("depth", "inner").build()) {
                    Many.add(recurse(60));
                }
            }
        }

        private static int recurse(int depth) {
            return depth == 0 ? 1 : recurse(depth - 1);
        }
    }

    /** Defines its own copy of {@link Worker}. */
    private static final class OneClass extends ClassLoader {
        private final byte[] code;

        OneClass(byte[] code) {
            super(Many.class.getClassLoader());
            this.code = code;
        }

        Runnable worker(int number) throws Exception {
            Class<?> copy = defineClass("Many$Worker", code, 0, code.length);
            return (Runnable) copy.getConstructor(int.class).newInstance(number);
        }
    }

    private static byte[] bytesOf(Class<?> type) throws Exception {
        try (InputStream in = type.getResourceAsStream("Many$Worker.class")) {
            return in.readAllBytes();
        }
    }
}
