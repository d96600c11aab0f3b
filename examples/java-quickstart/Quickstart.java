import io.ctxagent.RecordingContext;
import java.util.Arrays;
import java.util.Random;

/** Two tenants, one of them expensive. Who is it? */
public final class Quickstart {
    public static void main(String[] args) {
        long end = System.nanoTime() + 5_000_000_000L;
        while (System.nanoTime() < end) {
            handle("acme", 300_000);
            handle("globex", 100_000);
        }
    }

    private static void handle(String tenant, int size) {
        try (var context = RecordingContext.where("tenant", tenant).build()) {
            Arrays.sort(new Random(size).ints(size).toArray());
        }
    }

    private Quickstart() {}
}
