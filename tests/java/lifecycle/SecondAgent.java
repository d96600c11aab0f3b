import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes steps, then works under a label. A step is {@code await}, until a file {@code attached} is
 * there; {@code self OPTIONS}, a command to the agent; or {@code other OPTIONS}, the same by a copy
 * of the API in a loader of its own. Prints why a command is refused.
 */
public final class SecondAgent {
    public static void main(String[] args) throws Exception {
        for (String step : args) {
            take(step);
        }
        try (RecordingContext context = RecordingContext.where("who", "self").build()) {
            Cpu budget = Cpu.ofThisThread(300);
            while (budget.isLeft()) {
                Work.spin(100_000);
            }
        }
        System.out.println(AgentControl.execute("stop"));
    }

    private static void take(String step) throws Exception {
        String[] words = step.split(" ");
        switch (words[0]) {
            case "await":
                await();
                break;
            case "self":
                command(words[1]);
                break;
            default:
                ClassLoader other = otherLoader();
                Class<?> copy = Class.forName(SecondAgent.class.getName(), true, other);
                copy.getMethod("command", String.class).invoke(null, words[1]);
                break;
        }
    }

    private static void await() throws InterruptedException {
        System.out.println("ready");
        while (!new File("attached").exists()) {
            Thread.sleep(10);
        }
    }

    public static void command(String options) {
        try {
            System.out.println(AgentControl.execute(options));
        } catch (IllegalStateException refused) {
            System.out.println("refused: " + refused.getMessage());
        }
    }

    private static ClassLoader otherLoader() throws IOException {
        List<URL> urls = new ArrayList<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(url(path));
        }
        return new URLClassLoader(urls.toArray(new URL[0]), null);
    }

    private static URL url(String path) throws MalformedURLException {
        return new File(path).toURI().toURL();
    }
}
