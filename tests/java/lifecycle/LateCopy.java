import io.ctxagent.ContextRegistration;
import io.ctxagent.RecordingContext;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Uses the API before the agent is there. While the agent is being attached, a provider of context
 * types begins to use another copy of the API, in a loader of its own. When a file {@code done} is
 * in the working directory, what that copy does then is printed.
 */
public final class LateCopy {
    private static volatile Function<String, Object> copy;

    public static void main(String[] args) throws Exception {
        RecordingContext.where("early", "v").build().close();
        System.out.println("ready");
        Threads.awaitFile("done");
        try (AutoCloseable scope = (AutoCloseable) copy.apply("late")) {
            System.out.println("the copy: " + copy.apply(null));
        }
    }

    /** Named in {@code META-INF/services} by the test. */
    public static final class Provider implements ContextRegistration {
        @Override
        public void register() {
            // The other copy finds this provider too, and would make a third one, and so on.
            if (System.setProperty("late.copy", "made") != null) {
                return;
            }
            try {
                Function<String, Object> other =
                        Lifecycle.half(Arrays.copyOf(Lifecycle.classPath(), 2));
                ((AutoCloseable) other.apply("late")).close();
                copy = other;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
