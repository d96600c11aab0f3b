import com.sun.management.ThreadMXBean;
import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.lang.management.ManagementFactory;
import java.util.zip.Deflater;

/**
 * What single rows of the feature table ask for: {@code contexts}: two threads that share three
 * contexts; {@code scopes}: very many short scopes; {@code native}: CPU time in native code; {@code
 * allocation}: scopes until they allocate nothing; {@code helper}: the same with a builder that
 * another method made; {@code rare}: the same beside few scopes of another size.
 */
public final class FeatureParts {
    private static final RecordingContextKey TENANT = RecordingContextKey.forName("tenant");
    private static final RecordingContextKey KIND = RecordingContextKey.forName("kind");
    private static final RecordingContextKey ROUTE = RecordingContextKey.forName("route");
    private static final RecordingContextKey REGION = RecordingContextKey.forName("region");
    private static final RecordingContextKey K4 = RecordingContextKey.forName("k4");
    private static final RecordingContextKey K5 = RecordingContextKey.forName("k5");
    private static final RecordingContextKey K6 = RecordingContextKey.forName("k6");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("raw");
    private static final int SCOPES = 400_000;
    private static final int BATCH = 100_000;
    private static final int RARE = 2_000;
    private static volatile long sink;
    private static int rounds;
    private static RecordingContext.Builder builder;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "contexts":
                contexts();
                break;
            case "scopes":
                scopes();
                break;
            case "native":
                inNativeCode();
                break;
            case "helper":
                // Compiled by itself first, so that its size counts where it is called; after
                // values that had to be looked up, as in an application.
                for (int i = 0; i < 5 * BATCH; i++) {
                    RecordingContext.where(KIND, "kind-" + i % 1000)
                            .where(RAW, "raw")
                            .build()
                            .close();
                    builder = seven();
                }
                allocation(() -> seven().build().close());
                return;
            case "rare":
                // Calls in a branch that is rarely taken are not inlined: a scope that is an
                // argument of one is allocated.
                allocation(() -> {
                    if (++rounds % RARE == 0) {
                        seven().build().close();
                    }
                    RecordingContext.where(TENANT, "a").build().close();
                });
                return;
            default:
                allocation(() -> RecordingContext.where(TENANT, "a")
                        .where(KIND, "b")
                        .build()
                        .close());
                return;
        }
        // Here, not at the end of the JVM: a busy machine may need longer than that grants.
        AgentControl.execute("stop");
    }

    private static void contexts() throws InterruptedException {
        Threads.run(2, "contexts", t -> {
            for (int i = 0; i < 60; i++) {
                // A string of its own each time: what is shared is the value.
                try (RecordingContext c = RecordingContext.where(TENANT, "tenant-of-row-" + i % 3)
                        .where(KIND, "row")
                        .build()) {
                    burn(15);
                }
            }
        });
    }

    private static void scopes() {
        for (int i = 0; i < SCOPES; i++) {
            try (RecordingContext c = RecordingContext.where(TENANT, "short").build()) {
                sink++;
            }
        }
        System.out.println("scopes " + SCOPES);
    }

    private static void inNativeCode() {
        byte[] text = new byte[1 << 16];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) (i * 31 >> 3);
        }
        byte[] packed = new byte[1 << 17];
        try (RecordingContext c = RecordingContext.where(KIND, "native").build()) {
            Cpu budget = Cpu.ofThisThread(700);
            while (budget.isLeft()) {
                Deflater deflater = new Deflater(9);
                deflater.setInput(text);
                deflater.finish();
                sink += deflater.deflate(packed);
                deflater.end();
            }
        }
        try (RecordingContext c = RecordingContext.where(KIND, "java").build()) {
            burn(500);
        }
    }

    /**
     * Ends when a hundred thousand scopes allocate less than one of them would: the compiler leaves
     * the objects out.
     */
    private static void allocation(Runnable scope) {
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long end = System.nanoTime() + 60_000_000_000L;
        long bytes;
        do {
            long before = memory.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < BATCH; i++) {
                scope.run();
            }
            bytes = memory.getCurrentThreadAllocatedBytes() - before;
        } while (bytes >= BATCH && System.nanoTime() < end);
        System.out.println("bytes per scope below one: " + (bytes < BATCH));
    }

    private static RecordingContext.Builder seven() {
        return RecordingContext.where(TENANT, "a")
                .where(KIND, "b")
                .where(ROUTE, "c")
                .where(REGION, "d")
                .where(K4, "e")
                .where(K5, "f")
                .where(K6, "g");
    }

    private static void burn(long millis) {
        Cpu budget = Cpu.ofThisThread(millis);
        while (budget.isLeft()) {
            for (int i = 0; i < 10_000; i++) {
                sink = sink * 31 + 1;
            }
        }
    }
}
