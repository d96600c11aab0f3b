import io.ctxagent.AgentControl;
import io.ctxagent.ContextRegistration;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Its first use of the API is {@code start}; the provider of context types that this finds asks the
 * agent for its state, and prints it.
 */
public final class Registering {
    /** Found by its name in {@code META-INF/services}. */
    public static final class Provider implements ContextRegistration {
        @Override
        public void register() {
            System.out.println("state: " + Status.of("state"));
        }
    }

    public static void main(String[] args) throws Exception {
        Path services = Files.createDirectories(Path.of("providers/META-INF/services"));
        Files.writeString(
                services.resolve(ContextRegistration.class.getName()), Provider.class.getName());
        URL[] providers = {Path.of("providers").toUri().toURL()};
        Thread.currentThread()
                .setContextClassLoader(
                        new URLClassLoader(providers, Registering.class.getClassLoader()));
        System.out.println(AgentControl.execute("start,file=app.jfr"));
        System.out.println(AgentControl.execute("stop"));
    }
}
