import io.ctxagent.RecordingContext;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that use CPU 70/20/10 under three values of {@code endpoint}: {@code platform|virtual
 * THREADS ROUNDS}.
 *
 * <p>Each unit of work is the same, so the split of CPU time is that of the units. Virtual threads
 * yield within a context and sleep between contexts, so they change carriers both with a context
 * and without.
 */
public final class Split {
    private static final String[] ENDPOINTS = {"/checkout", "/search", "/home"};
    private static final int[] UNITS = {70, 20, 10};

    public static void main(String[] args) throws Exception {
        boolean virtual = args[0].equals("virtual");
        int count = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        // Compiled code from here on: the first units must not cost more than the last.
        long state = 1;
        for (int i = 0; i < 2_000; i++) {
            state = unit(state);
        }
        long seed = state;
        Threads.join(Threads.start(
                virtual,
                count,
                "splitter",
                i -> work(virtual, rounds, "tenant-" + i % 4, seed + i)));
        System.out.println("done");
    }

    private static void work(boolean virtual, int rounds, String tenant, long seed) {
        long state = seed;
        for (int round = 0; round < rounds; round++) {
            for (int at = 0; at < ENDPOINTS.length; at++) {
                try (RecordingContext context = RecordingContext.where("endpoint", ENDPOINTS[at])
                        .where("tenant", tenant)
                        .build()) {
                    for (int i = 0; i < UNITS[at]; i++) {
                        state = unit(state);
                        if (virtual && i % 5 == 4) {
                            Thread.yield();
                        }
                    }
                }
                if (virtual) {
                    LockSupport.parkNanos(200_000);
                }
            }
        }
        if (state == 0) {
            System.out.println("never");
        }
    }

    private static long unit(long state) {
        long x = state | 1;
        for (int i = 0; i < 20_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
