import java.io.File;
import java.io.IOException;

/**
 * The disk hung as the recording was started: it answers as soon as there is a file {@code back},
 * which this makes. Ends when the agent has no writer any more.
 */
public final class LateDisk {
    public static void main(String[] args) throws IOException {
        System.out.println("state: " + Status.of("state"));
        new File("back").createNewFile();
        while (!Status.of("state").equals("idle")) {
            Thread.onSpinWait();
        }
    }
}
