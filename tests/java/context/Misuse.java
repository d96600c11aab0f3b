import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;

/**
 * All that can be done wrong with the Java API, one line of JSON for each: what was done, what was
 * thrown, what the context is afterwards. The program runs on to its end: the last line is {@code
 * {"what": "end"}}.
 */
public final class Misuse {
    public static void main(String[] args) throws Exception {
        attempt("null key", () -> RecordingContext.where((RecordingContextKey) null, "v").build()
                .close());
        attempt("null name", () -> RecordingContext.where((String) null, "v").build().close());
        attempt("empty name", () -> RecordingContextKey.forName(""));
        attempt("name of 10 kB", () -> RecordingContextKey.forName("x".repeat(10_000)));
        attempt("name with NUL", () -> RecordingContextKey.forName("a\0b"));
        attempt("reserved name", () -> RecordingContextKey.forName("startTime"));
        attempt("null value", () -> {
            try (RecordingContext c = RecordingContext.where("k1", null).build()) {
                burn();
            }
        });
        attempt("value of 1 MB", () -> {
            try (RecordingContext c = RecordingContext.where("k1", "m".repeat(1 << 20)).build()) {
                burn();
            }
        });
        attempt("lone surrogate", () -> {
            try (RecordingContext c = RecordingContext.where("k1", "a\uD800b").build()) {
                burn();
            }
        });
        attempt("nine keys", () -> {
            RecordingContext.Builder b = RecordingContext.where("k1", "v1");
            for (int i = 2; i <= 9; i++) {
                b.where("k" + i, "v" + i);
            }
            try (RecordingContext c = b.build()) {
                burn();
            }
        });
        attempt("double close", () -> {
            RecordingContext c = RecordingContext.where("k1", "v").build();
            c.close();
            c.close();
        });
        attempt("close out of order", () -> {
            RecordingContext outer = RecordingContext.where("k1", "outer").build();
            RecordingContext inner = RecordingContext.where("k2", "inner").build();
            outer.close();
            inner.close();
        });
        attempt("close on another thread", () -> {
            RecordingContext c = RecordingContext.where("k1", "mine").build();
            Thread other = new Thread(c::close);
            other.start();
            join(other);
            RecordingContext.where("k2", "next").build().close();
        });
        attempt("scope never closed", () -> {
            Thread leaking = new Thread(() -> RecordingContext.where("k1", "leaked").build());
            leaking.start();
            join(leaking);
        });
        attempt("million nested scopes", () -> {
            RecordingContext[] open = new RecordingContext[1_000_000];
            for (int i = 0; i < open.length; i++) {
                open[i] = RecordingContext.where("k1", "deep").build();
            }
            for (int i = open.length - 1; i >= 0; i--) {
                open[i].close();
            }
        });
        System.out.println("{\"what\": \"end\"}");
    }

    private static void attempt(String what, Runnable misuse) {
        String thrown = "nothing";
        try {
            misuse.run();
        } catch (RuntimeException e) {
            String message = e.getMessage();
            thrown = e.getClass().getSimpleName() + ": "
                    + message.substring(0, Math.min(100, message.length()));
        }
        System.out.println("{\"what\": " + quoted(what) + ", \"thrown\": " + quoted(thrown)
                + ", \"context\": "
                + quoted(RecordingContext.describe()) + "}");
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    private static volatile long sink;

    /** Long enough to be sampled. */
    private static void burn() {
        Cpu budget = Cpu.ofThisThread(200);
        while (budget.isLeft()) {
            for (int i = 0; i < 10_000; i++) {
                sink = sink * 31 + 1;
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Misuse() {
    }
}
