import io.ctxagent.AgentControl;
import java.io.File;
import java.io.IOException;

/**
 * The disk hangs as soon as there is a file {@code hung} in the working directory. This makes it,
 * gives the agent a command that waits for the disk on a thread of its own, tells what the agent
 * says meanwhile, and ends without waiting: {@code COMMAND [FILE]}. The command is at work once
 * there is FILE.
 */
public final class Hung {
    public static void main(String[] args) throws IOException {
        new File("hung").createNewFile();
        Thread asking = Threads.startDaemon("asking", () -> execute(args[0]));
        while (!isInAgent(asking) || args.length > 1 && !new File(args[1]).exists()) {
            Thread.onSpinWait();
        }
        boolean stops = args[0].equals("stop");
        while (stops && Status.of("state").equals("recording")) {
            Thread.onSpinWait();
        }
        System.out.println("state: " + Status.of("state"));
        System.out.println(execute("start,file=second.jfr"));
        System.out.println("waits " + asking.isAlive());
    }

    private static String execute(String command) {
        try {
            return AgentControl.execute(command);
        } catch (IllegalStateException e) {
            return "refused: " + e.getMessage();
        }
    }

    private static boolean isInAgent(Thread thread) {
        StackTraceElement[] frames = thread.getStackTrace();
        return frames.length > 0
                && frames[0].isNativeMethod()
                && frames[0].getMethodName().equals("execute");
    }
}
