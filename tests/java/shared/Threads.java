import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Threads whose bodies may throw anything; virtual ones by reflection, as this compiles for 17. */
final class Threads {
    /** What a thread does. */
    interface Body {
        void run() throws Exception;
    }

    /** What each thread of several does. */
    interface NumberedBody {
        void run(int number) throws Exception;
    }

    static boolean hasVirtual() {
        return Runtime.version().feature() >= 21;
    }

    static Thread start(String name, Body body) {
        return start(false, name, body);
    }

    /** A virtual thread gets no name. */
    static Thread start(boolean virtual, String name, Body body) {
        if (virtual) {
            return startVirtual(body);
        }
        Thread thread = new Thread(unchecked(body), name);
        thread.start();
        return thread;
    }

    static Thread startDaemon(String name, Body body) {
        Thread thread = new Thread(unchecked(body), name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static Thread startVirtual(Body body) {
        try {
            return (Thread) Thread.class
                    .getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, unchecked(body));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Threads {@code NAME-0}, {@code NAME-1}, and so on. */
    static List<Thread> start(int count, String name, NumberedBody body) {
        return start(false, count, name, body);
    }

    static List<Thread> start(boolean virtual, int count, String name, NumberedBody body) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add(start(virtual, name + "-" + i, () -> body.run(number)));
        }
        return threads;
    }

    /** Starts the threads and waits for their end. */
    static void run(int count, String name, NumberedBody body) throws InterruptedException {
        join(start(count, name, body));
    }

    static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Returns when the file is there; the deadline is the time limit of the test. */
    static void awaitFile(String name) throws InterruptedException {
        while (!new File(name).exists()) {
            Thread.sleep(1);
        }
    }

    private static Runnable unchecked(Body body) {
        return () -> {
            try {
                body.run();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }
}
