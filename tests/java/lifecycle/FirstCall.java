import io.ctxagent.RecordingContext;
import java.lang.reflect.Field;
import java.util.Locale;

/**
 * Waits until the agent has prepared the API if told so ({@code prepared}), then says what its
 * first and second call cost.
 */
public final class FirstCall {
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            while (!isPrepared()) {
                Thread.sleep(1); // a condition with the test's time limit
            }
        }
        System.out.println("first call: " + millis() + " ms");
        System.out.println("second call: " + millis() + " ms");
        RecordingContext.where("endpoint", "/a")
                .run(() -> System.out.println(RecordingContext.describe()));
    }

    /** The class has no initialiser: to read its field begins nothing. */
    private static boolean isPrepared() throws ReflectiveOperationException {
        Field state = Class.forName("io.ctxagent.internal.agent.Bridge").getDeclaredField("state");
        state.setAccessible(true);
        return state.getInt(null) == 2
                && Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("ctxagent api"));
    }

    private static String millis() {
        long start = System.nanoTime();
        RecordingContext.where("endpoint", "/a").build().close();
        return String.format(Locale.ROOT, "%.2f", (System.nanoTime() - start) / 1e6);
    }
}
