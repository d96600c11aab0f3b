import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Allocates objects of sizes from 16 bytes to 64 MiB, each size under its own label: {@code
 * turns|apart ROUNDS}, on one thread by turns or each size on a thread of its own. Prints the bytes
 * of each: {@code LABEL BYTES}.
 */
public final class Sizes {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final String[] LABELS = {"16", "1k", "64k", "1m", "8m", "64m"};
    private static final int[] SIZES = {16, KIB, 64 * KIB, MIB, 8 * MIB, 64 * MIB};
    /** Objects of each size in one round; of the last two sizes there is one in some rounds. */
    private static final int[] TIMES = {256 * KIB / 16, 256, 4, 1, 1, 1};

    private static final int[] EVERY = {1, 1, 1, 1, 8, 64};
    private static final long[] BYTES = new long[SIZES.length];
    private static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[1]);
        boolean apart = args[0].equals("apart");
        for (int i = 0; i < (apart ? SIZES.length : 1); i++) {
            int first = i;
            int last = apart ? i : SIZES.length - 1;
            Threads.start("sizes-" + i, () -> allocate(rounds, first, last)).join();
        }
        for (int i = 0; i < SIZES.length; i++) {
            System.out.println(LABELS[i] + " " + BYTES[i]);
        }
        AgentControl.execute("stop");
    }

    private static void allocate(int rounds, int first, int last) {
        for (int round = 0; round < rounds; round++) {
            for (int size = first; size <= last; size++) {
                if (round % EVERY[size] == 0) {
                    allocate(size);
                }
            }
        }
    }

    private static void allocate(int size) {
        try (RecordingContext context =
                RecordingContext.where("label", LABELS[size]).build()) {
            for (int i = 0; i < TIMES[size]; i++) {
                // The header of an array has 16 bytes.
                sink = size == 0 ? new Object() : new byte[SIZES[size] - 16];
            }
        }
        BYTES[size] += (long) SIZES[size] * TIMES[size];
    }
}
