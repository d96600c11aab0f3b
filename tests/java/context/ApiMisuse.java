import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Uses the API in every wrong way, tells what came of it, and then uses it right: prints {@code
 * NAME: RESULT} lines, the agent's status at the end.
 *
 * <p>{@code ApiMisuse quick} uses no CPU time under its contexts: for a run without the agent.
 */
public final class ApiMisuse {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;
    private static boolean quick;

    private interface Body {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        quick = args.length > 0 && args[0].equals("quick");
        thrown("null key", () -> RecordingContext.where((RecordingContextKey) null, "x"));
        thrown("null name", () -> RecordingContext.where((String) null, "x"));
        thrown("empty name", () -> RecordingContext.where("", "x"));
        thrown("bad name", () -> RecordingContextKey.forName("a b"));
        thrown("long name", () -> RecordingContextKey.forName("n".repeat(64)));
        thrown("reserved name", () -> RecordingContextKey.forName("stackTrace"));
        thrown("null value", () -> {
            try (RecordingContext c = RecordingContext.where("k1", null).build()) {
                burn();
            }
        });
        under("megabyte value", "k1", "\u00e9".repeat(1 << 19));
        under("lone surrogate", "k1", "a\ud800b");
        under("empty value", "k1", "");
        under("control characters", "k1", "a\nb\u0000c\u001b[2J");

        thrown("closed twice", () -> {
            RecordingContext c = RecordingContext.where("k1", "twice").build();
            c.close();
            c.close();
        });
        thrown("closed out of order", () -> {
            RecordingContext outer = RecordingContext.where("k1", "outer").build();
            RecordingContext inner = RecordingContext.where("k1", "inner").build();
            outer.close();
            inner.close();
        });
        thrown("closed on another thread", () -> {
            RecordingContext c = RecordingContext.where("k1", "foreign").build();
            Thread other = new Thread(c::close);
            other.start();
            other.join();
        });
        thrown("nine attributes", () -> {
            RecordingContext.Builder builder = RecordingContext.where("k1", "v1");
            for (int i = 2; i <= 9; i++) {
                builder = builder.where("k" + i, "v" + i);
            }
            try (RecordingContext c = builder.build()) {
                burn();
            }
        });
        thrown("bad command", () -> AgentControl.execute("stat"));

        under("right again", "k1", "right");
        try {
            System.out.print(AgentControl.execute("status"));
        } catch (IllegalStateException e) {
            System.out.println("status: " + e.getMessage());
        }
        System.out.println("still here");
    }

    private static void under(String name, String key, String value) {
        thrown(name, () -> {
            try (RecordingContext c = RecordingContext.where(key, value).build()) {
                burn();
            }
        });
    }

    private static void thrown(String name, Body body) {
        String result = "nothing thrown";
        try {
            body.run();
        } catch (Throwable t) {
            result = t.getClass().getName() + ": " + t.getMessage();
        }
        System.out.println(name + ": " + result);
    }

    /** Three tenths of a second of CPU time, which is some 150 samples at 2 ms. */
    private static void burn() {
        if (quick) {
            return;
        }
        long end = THREADS.getCurrentThreadCpuTime() + 300_000_000L;
        while (THREADS.getCurrentThreadCpuTime() < end) {
            long x = sink | 1;
            for (int i = 0; i < 10_000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            sink = x;
        }
    }

    private ApiMisuse() {
    }
}
