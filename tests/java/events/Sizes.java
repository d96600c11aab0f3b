import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/**
 * Allocates objects of sizes from 16 bytes to 64 MiB by turns, each size under its own label:
 * {@code ROUNDS}. Prints the bytes of each: {@code LABEL BYTES}.
 */
public final class Sizes {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final String[] LABELS = {"16", "1k", "64k", "1m", "8m", "64m"};
    private static final long[] SIZES = {16, KIB, 64 * KIB, MIB, 8 * MIB, 64 * MIB};
    private static final long[] BYTES = new long[SIZES.length];
    private static volatile Object sink;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            allocate(0, 256 * KIB / 16);
            allocate(1, 256);
            allocate(2, 4);
            allocate(3, 1);
            if (round % 8 == 0) {
                allocate(4, 1);
            }
            if (round % 64 == 0) {
                allocate(5, 1);
            }
        }
        for (int i = 0; i < SIZES.length; i++) {
            System.out.println(LABELS[i] + " " + BYTES[i]);
        }
        AgentControl.execute("stop");
    }

    private static void allocate(int size, int times) {
        try (RecordingContext context = RecordingContext.where("label", LABELS[size]).build()) {
            for (int i = 0; i < times; i++) {
                // The header of an array has 16 bytes.
                sink = size == 0 ? new Object() : new byte[(int) SIZES[size] - 16];
            }
        }
        BYTES[size] += SIZES[size] * times;
    }
}
