import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.oracle.Truth;

/** One thread changes its context all the time, another one reads it from outside. Arguments: looks, bug to plant or 0. */
public final class Beside {
    private static final RecordingContextKey A = RecordingContextKey.forName("a");
    private static final RecordingContextKey B = RecordingContextKey.forName("b");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("c");
    private static final int CONTEXTS = 64;
    private static volatile boolean over;

    private Beside() {
    }

    public static void main(String[] args) throws InterruptedException {
        int looks = Integer.parseInt(args[0]);
        Truth.plant(Integer.parseInt(args[1]));
        Thread writer = new Thread(Beside::write, "writer");
        writer.start();
        long[] seen = new long[4];
        long id = writer.getId();
        for (int i = 0; i < looks; i++) {
            seen[Truth.beside(id)]++;
        }
        over = true;
        writer.join();
        System.out.println("looks " + seen[1] + " " + seen[2] + " " + seen[3] + " " + seen[0]);
    }

    /** Nested, so that there is always a context: what a reader sees are changes from one to another. */
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
        return RecordingContext.where(A, value).where(B, value).where(RAW, value).build();
    }
}
