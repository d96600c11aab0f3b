import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/**
 * Small methods that the compiler inlines beside each other; the label says which one runs.
 * Argument: milliseconds.
 */
public final class Neighbours {
    private static final RecordingContextKey METHOD = RecordingContextKey.forName("method");
    private static volatile long sink;

    private interface Step {
        long step(long x);
    }

    private static final class One implements Step {
        @Override
        public long step(long x) { // Neighbours$One.step
            return spin(x);
        }
    }

    private static final class Two implements Step {
        @Override
        public long step(long x) { // Neighbours$Two.step
            return spin(x);
        }
    }

    private static final Step[] STEPS = {new One(), new Two()};
    private static final LongUnaryOperator[] LAMBDAS = {x -> lambda0(x), x -> lambda1(x)};

    private static long burn0(long x) { // Neighbours.burn0
        return spin(x);
    }

    private static long burn1(long x) { // Neighbours.burn1
        return spin(x);
    }

    private static long burn2(long x) { // Neighbours.burn2
        return spin(x);
    }

    private static long burn3(long x) { // Neighbours.burn3
        return spin(x);
    }

    private static long lambda0(long x) { // Neighbours.lambda0
        return spin(x);
    }

    private static long lambda1(long x) { // Neighbours.lambda1
        return spin(x);
    }

    private static long inner0(long x) { // Neighbours.inner0
        return spin(x);
    }

    private static long inner1(long x) { // Neighbours.inner1
        return spin(x);
    }

    private static long mapped0(long x) { // Neighbours.mapped0
        return spin(x);
    }

    private static long mapped1(long x) { // Neighbours.mapped1
        return spin(x);
    }

    private static long spin(long x) {
        long end = System.nanoTime() + 10_000;
        long s = x;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 50; i++) {
                s = s * 31 + i;
            }
        }
        return s;
    }

    private static long nested(int which, long x) {
        long sum = x;
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                sum += which == 0 ? inner0(sum + i) : inner1(sum + j);
            }
        }
        return sum;
    }

    private static long stream(int which, long x) {
        LongStream numbers = LongStream.range(x, x + 3);
        LongStream mapped =
                which == 0 ? numbers.map(Neighbours::mapped0) : numbers.map(Neighbours::mapped1);
        return mapped.sum();
    }

    private static long call(int which, long x) {
        return switch (which) {
            case 0 -> burn0(x);
            case 1 -> burn1(x);
            case 2 -> burn2(x);
            case 3 -> burn3(x);
            case 4, 5 -> LAMBDAS[which - 4].applyAsLong(x);
            case 6, 7 -> nested(which - 6, x);
            case 8, 9 -> stream(which - 8, x);
            default -> STEPS[which - 10].step(x);
        };
    }

    public static void main(String[] args) {
        String[] names = {
            "Neighbours.burn0",
            "Neighbours.burn1",
            "Neighbours.burn2",
            "Neighbours.burn3",
            "Neighbours.lambda0",
            "Neighbours.lambda1",
            "Neighbours.inner0",
            "Neighbours.inner1",
            "Neighbours.mapped0",
            "Neighbours.mapped1",
            "Neighbours$One.step",
            "Neighbours$Two.step",
        };
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        long x = 1;
        for (int i = 0; System.nanoTime() < end; i++) {
            int which = i % names.length;
            try (var scope = RecordingContext.where(METHOD, names[which]).build()) {
                for (int n = 0; n < 2; n++) {
                    x += call(which, x);
                }
            }
        }
        sink = x;
    }
}
