import io.ctxagent.patched.Entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads and links the classes that a file lists, so that the JVM verifies them. */
public class LinkAll {
    public static void main(String[] arguments) throws IOException {
        int linked = 0;
        for (String name : Files.readAllLines(Path.of(arguments[0]))) {
            try {
                // The lookup of methods links the class; nothing initialises it.
                Class.forName(name, false, null).getDeclaredMethods();
                linked++;
            } catch (VerifyError error) {
                System.out.println("refused: " + name + ": "
                        + error.getMessage().lines().findFirst().get());
            } catch (Throwable error) {
                System.out.println("failed: " + name + ": " + error);
            }
        }
        System.out.println("linked: " + linked);
        System.out.println("calls: " + Entry.calls);
    }
}
