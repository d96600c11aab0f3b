import io.ctxagent.AgentControl;
import java.io.File;
import java.io.IOException;

/**
 * The disk hangs from when there is a file {@code hung} in the working directory until there is one
 * {@code back}. Makes the first, works until samples are lost because nobody takes them, makes the
 * second and ends the recording. Prints the last {@code status}.
 */
public final class Stuck {
    public static void main(String[] args) throws IOException {
        new File("hung").createNewFile();
        while (!AgentControl.execute("status").contains("lost.no_slot: ")) {
            Cpu.ofProcess(200).burn();
        }
        new File("back").createNewFile();
        Cpu.ofProcess(200).burn();
        System.out.println(AgentControl.execute("stop"));
        System.out.println(AgentControl.execute("status"));
    }
}
