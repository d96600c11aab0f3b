import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;

/**
 * Uses the API in every wrong way, and then right: prints of each what was thrown, {@code NAME:
 * RESULT}, and which context was left, {@code after NAME: CONTEXT}; the agent's status at the end.
 *
 * <p>{@code Misuse quick} uses no CPU time under its contexts: for a run without the agent.
 */
public final class Misuse {
    private static final int DEEP = 1_000_000;
    private static boolean quick;

    public static void main(String[] args) throws Exception {
        quick = args.length > 0 && args[0].equals("quick");
        names();
        values();
        closing();
        attempt("nine attributes", () -> {
            RecordingContext.Builder builder = RecordingContext.where("k1", "v1");
            for (int i = 2; i <= 9; i++) {
                builder = builder.where("k" + i, "v" + i);
            }
            try (RecordingContext c = builder.build()) {
                burn();
            }
        });
        attempt("bad command", () -> AgentControl.execute("stat"));
        under("right again", "k1", "right");
        try {
            System.out.print(AgentControl.execute("status"));
        } catch (IllegalStateException e) {
            System.out.println("status: " + e.getMessage());
        }
        System.out.println("still here");
    }

    private static void names() {
        attempt("null key", () -> RecordingContext.where((RecordingContextKey) null, "x"));
        attempt("null name", () -> RecordingContext.where((String) null, "x"));
        attempt("empty name", () -> RecordingContext.where("", "x"));
        attempt("empty key", () -> RecordingContextKey.forName(""));
        attempt("bad name", () -> RecordingContextKey.forName("a b"));
        attempt("name with NUL", () -> RecordingContextKey.forName("a\0b"));
        attempt("long name", () -> RecordingContextKey.forName("n".repeat(64)));
        attempt("name of 10 kB", () -> RecordingContextKey.forName("x".repeat(10_000)));
        attempt("reserved name", () -> RecordingContextKey.forName("stackTrace"));
        attempt("other reserved name", () -> RecordingContextKey.forName("startTime"));
    }

    private static void values() {
        under("null value", "k1", null);
        under("megabyte value", "k1", "\u00e9".repeat(1 << 19));
        under("lone surrogate", "k1", "a\ud800b");
        under("empty value", "k1", "");
        under("control characters", "k1", "a\nb\u0000c\u001b[2J");
    }

    private static void closing() {
        attempt("closed twice", () -> {
            RecordingContext c = RecordingContext.where("k1", "twice").build();
            c.close();
            c.close();
        });
        for (String second : new String[] {"k1", "k2"}) {
            attempt("closed out of order, " + second, () -> {
                RecordingContext outer = RecordingContext.where("k1", "outer").build();
                RecordingContext inner = RecordingContext.where(second, "inner").build();
                outer.close();
                inner.close();
            });
        }
        attempt("closed on another thread", () -> {
            RecordingContext c = RecordingContext.where("k1", "foreign").build();
            Threads.start("other", c::close).join();
            RecordingContext.where("k2", "next").build().close();
        });
        attempt(
                "never closed",
                () -> Threads.start(
                                "leaking",
                                () -> RecordingContext.where("k1", "leaked").build())
                        .join());
        attempt("million nested scopes", () -> {
            RecordingContext[] open = new RecordingContext[DEEP];
            for (int i = 0; i < DEEP; i++) {
                open[i] = RecordingContext.where("k1", "deep").build();
            }
            for (int i = DEEP - 1; i >= 0; i--) {
                open[i].close();
            }
        });
    }

    private static void under(String name, String key, String value) {
        attempt(name, () -> {
            try (RecordingContext c = RecordingContext.where(key, value).build()) {
                burn();
            }
        });
    }

    private static void attempt(String name, Threads.Body body) {
        String result = "nothing thrown";
        try {
            body.run();
        } catch (Throwable t) {
            result = t.getClass().getName() + ": " + t.getMessage();
        }
        System.out.println(name + ": " + result);
        System.out.println("after " + name + ": " + RecordingContext.describe());
    }

    /** Three tenths of a second of CPU time, which is some 150 samples at 2 ms. */
    private static void burn() {
        if (!quick) {
            Cpu.ofThisThread(300).burn();
        }
    }
}
