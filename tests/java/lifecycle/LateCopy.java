import io.ctxagent.ContextRegistration;
import io.ctxagent.RecordingContext;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
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
        File file = new File("done");
        while (!file.exists()) {
            Thread.sleep(10); // a condition with the test's time limit
        }
        try (AutoCloseable scope = (AutoCloseable) copy.apply("late")) {
            System.out.println("the copy: " + copy.apply(null));
        }
    }

    /** Named in {@code META-INF/services} by the test. */
    public static final class Provider implements ContextRegistration {
        @Override
        public void register() {
            try {
                String[] path = System.getProperty("java.class.path").split(":");
                URL[] urls = {Path.of(path[0]).toUri().toURL(), Path.of(path[1]).toUri().toURL()};
                @SuppressWarnings("unchecked")
                Function<String,
                        Object> other = (Function<String, Object>) new URLClassLoader(urls,
                        ClassLoader.getPlatformClassLoader())
                        .loadClass("Lifecycle$Half").getConstructor().newInstance();
                ((AutoCloseable) other.apply("late")).close();
                copy = other;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private LateCopy() {
    }
}
