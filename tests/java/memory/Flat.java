import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.AgentControl;
import io.ctxagent.oracle.Truth;
import java.io.IOException;

/**
 * As many distinct values as asked for through one key, each declared to the oracle; tells the
 * resident memory twenty times. Arguments: values.
 */
public final class Flat {
    private static final RecordingContextKey KEY = RecordingContextKey.forName("request");
    private static final int REPORTS = 20;
    /** What the test asks for, and the values between two looks at it. */
    private static final int COMPARED = 60;

    private static final int STEP = 100_000;
    private static volatile long sink;

    public static void main(String[] args) throws IOException {
        int values = Integer.parseInt(args[0]);
        for (int report = 1; report <= REPORTS; report++) {
            int last = (int) ((long) values * report / REPORTS);
            work((int) ((long) values * (report - 1) / REPORTS) + 1, last);
            System.out.println("resident " + last + " " + Resident.kib());
        }
        for (int next = values + 1; compared() < COMPARED && next < 10L * values; next += STEP) {
            work(next, next + STEP - 1);
        }
        System.out.println(AgentControl.execute("status"));
        System.out.println("FLAT-DONE");
    }

    /**
     * Samples that the oracle found right. On a busy machine the timers tick rarely, and a million
     * values take a few dozen samples.
     */
    private static long compared() {
        return Status.counter("oracle.right");
    }

    private static void work(int first, int last) {
        for (int i = first; i <= last; i++) {
            String value = "v" + i;
            Truth.change(Truth.NONE, i);
            RecordingContext context = RecordingContext.where(KEY, value).build();
            Truth.declare(i);
            sink += i;
            Truth.change(i, Truth.NONE);
            context.close();
            Truth.declare(0);
        }
    }
}
