import io.ctxagent.RecordingContext;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * Scopes of which some take as long as the recording asks for: {@code MILLIS}. Each case has a
 * thread of its own, platform and then virtual where there are such. The values of {@code scope}
 * say what happens while the scope is open.
 */
public final class TimedScopes {
    private interface Case {
        void run() throws Exception;
    }

    private static long nanos;

    public static void main(String[] args) throws Exception {
        nanos = Long.parseLong(args[0]) * 1_000_000;
        boolean[] kinds = Runtime.version().feature() < 21
                ? new boolean[] {false}
                : new boolean[] {false, true};
        for (boolean virtual : kinds) {
            List<Case> cases = List.of(
                    TimedScopes::leaf,
                    TimedScopes::nested,
                    TimedScopes::put,
                    TimedScopes::crossed,
                    TimedScopes::closedElsewhere,
                    TimedScopes::carried);
            Threads.join(Threads.start(virtual, cases.size(), "case", i -> run(cases.get(i))));
        }
        System.out.println("done");
    }

    private static void run(Case one) {
        try {
            one.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static RecordingContext open(String scope) {
        return RecordingContext.where("scope", scope).build();
    }

    private static void takeLong() {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void leaf() {
        try (RecordingContext c = open("leaf")) {
            takeLong();
        }
    }

    private static void nested() {
        try (RecordingContext c = open("around all")) {
            try (RecordingContext inner = open("around short")) {
                try (RecordingContext a = RecordingContext.where("a", "short").build()) {
                    Thread.yield();
                }
                takeLong();
            }
        }
    }

    private static void put() {
        try (RecordingContext c = open("around put")) {
            try (RecordingContext inner = open("put")) {
                RecordingContext.put("b", "value");
                takeLong();
                RecordingContext.remove("b");
            }
        }
    }

    private static void crossed() {
        try (RecordingContext c = open("around crossed")) {
            RecordingContext first = open("first");
            RecordingContext second = open("second");
            takeLong();
            first.close();
            second.close();
        }
    }

    private static void closedElsewhere() throws Exception {
        try (RecordingContext c = open("around closed elsewhere")) {
            RecordingContext scope = open("closed elsewhere");
            takeLong();
            Thread other = new Thread(scope::close);
            other.start();
            other.join();
        }
    }

    private static void carried() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try (RecordingContext c = open("carried")) {
            pool.submit(TimedScopes::takeLong).get();
        } finally {
            pool.shutdown();
        }
    }
}
