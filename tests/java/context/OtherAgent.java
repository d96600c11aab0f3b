import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Hands work over within a scope, beside a Java agent that has changed the same classes of the JDK
 * since the agent wrote its hooks into them: {@code retransform}, {@code redefine}, each with the
 * bytes that a class has, {@code not}, or {@code alone}, without the agent. Prints what the work
 * sees, and how many classes the Java agent changed.
 */
public final class OtherAgent {
    private static final List<String> CLASSES =
            List.of("FutureTask", "CompletableFuture$AsyncSupply", "CompletableFuture$UniApply");
    private static final AtomicInteger shown = new AtomicInteger();
    private static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        RecordingContext.where("tenant", "first").build().close();
        boolean isAlone = args[0].equals("alone");
        while (!isAlone && status().contains("is being turned on")) {
            Thread.sleep(1);
        }
        change(args[0]);
        handOver();
        System.out.println("changed: " + shown);
        if (!isAlone) {
            System.out.print(status());
        }
    }

    private static String status() {
        return AgentControl.execute("status")
                .lines()
                .filter(line -> line.startsWith("propagate"))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
    }

    private static void handOver() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<Void> stage;
        try (RecordingContext scope = RecordingContext.where("tenant", "acme").build()) {
            pool.submit(() -> see("submit")).get();
            CompletableFuture.supplyAsync(() -> see("supplyAsync"), pool).get();
            stage = source.thenApply(x -> see("thenApply")).thenAccept(x -> see("thenAccept"));
        }
        pool.submit(() -> source.complete("")).get();
        stage.get();
        pool.submit(() -> see("worker")).get();
        pool.shutdown();
    }

    private static String see(String way) {
        System.out.println(way + ": " + RecordingContext.describe());
        return way;
    }

    private static void change(String how) throws Exception {
        if (how.equals("retransform")) {
            instrumentation.addTransformer(new Same(), true);
        }
        for (String name : CLASSES) {
            Class<?> type = Class.forName("java.util.concurrent." + name);
            if (how.equals("retransform")) {
                instrumentation.retransformClasses(type);
            } else if (how.equals("redefine")) {
                instrumentation.redefineClasses(new ClassDefinition(type, bytesOf(name)));
                shown.incrementAndGet();
            }
        }
    }

    private static byte[] bytesOf(String name) throws Exception {
        try (InputStream in = ExecutorService.class.getResourceAsStream(name + ".class")) {
            return in.readAllBytes();
        }
    }

    /** Gives classes the bytes that they have. */
    private static final class Same implements ClassFileTransformer {
        @Override
        public byte[] transform(
                ClassLoader loader,
                String name,
                Class<?> changed,
                ProtectionDomain domain,
                byte[] bytes) {
            if (changed == null || !name.startsWith("java/util/concurrent/")) {
                return null;
            }
            shown.incrementAndGet();
            return bytes.clone();
        }
    }
}
