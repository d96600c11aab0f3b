import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.oracle.Truth;

/**
 * One thread changes its context all the time, another one reads it from outside. Arguments: looks
 * at least, bug to plant or 0. Goes on until what a run is about was seen, as two threads on a busy
 * machine may take turns for long: a change, or with a bug half a context.
 */
public final class Beside {
    private static final RecordingContextKey A = RecordingContextKey.forName("a");
    private static final RecordingContextKey B = RecordingContextKey.forName("b");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("c");
    private static final int CONTEXTS = 64;
    /** Answers of {@link Truth#beside}. */
    private static final int WHOLE = 1;

    private static final int CHANGING = 2;
    private static final int MIXED = 3;
    /** Times the looks asked for, then a run ends anyway. */
    private static final int MOST = 300;

    private static volatile boolean over;

    public static void main(String[] args) throws InterruptedException {
        long looks = Long.parseLong(args[0]);
        int bug = Integer.parseInt(args[1]);
        Truth.plant(bug);
        Thread writer = Threads.start("writer", Beside::write);
        long[] seen = new long[4];
        long id = writer.getId();
        int wanted = bug == 0 ? CHANGING : MIXED;
        for (long i = 0;
                i < looks || (seen[wanted] == 0 || seen[WHOLE] < looks / 10) && i < MOST * looks;
                i++) {
            seen[Truth.beside(id)]++;
        }
        over = true;
        writer.join();
        System.out.println(
                "looks " + seen[WHOLE] + " " + seen[CHANGING] + " " + seen[MIXED] + " " + seen[0]);
    }

    /**
     * Nested, so that there is always a context: what a reader sees are changes from one to
     * another.
     */
    private static void write() {
        String[] values = new String[CONTEXTS];
        for (int i = 0; i < CONTEXTS; i++) {
            values[i] = "v" + i;
        }
        try (RecordingContext outer = open(values[0])) {
            for (int i = 0; !over; i++) {
                open(values[i % CONTEXTS]).close();
            }
        }
    }

    private static RecordingContext open(String value) {
        return RecordingContext.where(A, value)
                .where(B, value)
                .where(RAW, value)
                .build();
    }
}
