import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.File;
import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Does what each argument says, one after the other:
 *
 * <ul>
 *   <li>{@code burn MILLIS}: uses CPU time; {@code label VALUE}: 300 ms of it under the label
 *       {@code who};
 *   <li>{@code bursts}: starts a thread that works in bursts, with sleeps between;
 *   <li>{@code make FILE}, {@code await FILE};
 *   <li>{@code until TEXT}: works until {@code status} has the text; {@code written COUNT}: until
 *       so many more samples are written;
 *   <li>{@code take SIGNAL}: takes it from the agent, as another profiler would; {@code give}:
 *       gives it back; {@code met}: prints how often it has come meanwhile;
 *   <li>{@code beside COMMAND}: gives the agent a command on a thread that nobody waits for;
 *   <li>{@code state}: prints the agent's; {@code exit}: ends the JVM.
 * </ul>
 *
 * Any other one is a command for the agent. Its answer is printed, or {@code refused: WHY}.
 */
public final class Script {
    private static final AtomicInteger MET = new AtomicInteger();
    private static Signal taken;
    private static SignalHandler owner;

    public static void main(String[] steps) throws Exception {
        for (String step : steps) {
            int cut = (step + " ").indexOf(' ');
            perform(step, step.substring(0, cut), step.substring(Math.min(cut + 1, step.length())));
        }
    }

    private static void perform(String step, String verb, String object) throws Exception {
        switch (verb) {
            case "burn":
                Cpu.ofThisThread(Long.parseLong(object)).burn();
                break;
            case "label":
                RecordingContext.where("who", object)
                        .run(() -> Cpu.ofThisThread(300).burn());
                break;
            case "bursts":
                Threads.startDaemon("bursts", Script::workInBursts);
                break;
            case "make":
                new File(object).createNewFile();
                break;
            case "await":
                Threads.awaitFile(object);
                break;
            case "until":
                while (!AgentControl.execute("status").contains(object)) {
                    Cpu.ofThisThread(10).burn();
                }
                break;
            case "written":
                long enough = Status.counter("written") + Long.parseLong(object);
                while (Status.counter("written") < enough) {
                    Cpu.ofThisThread(20).burn();
                }
                break;
            case "take":
                taken = new Signal(object);
                owner = Signal.handle(taken, signal -> MET.incrementAndGet());
                break;
            case "give":
                Signal.handle(taken, owner);
                break;
            case "met":
                System.out.println("met " + MET);
                break;
            case "beside":
                Threads.startDaemon("asking", () -> AgentControl.execute(object));
                break;
            case "state":
                System.out.println("state: " + Status.of("state"));
                break;
            case "exit":
                System.exit(0);
                break;
            default:
                System.out.println(answer(step));
        }
    }

    private static String answer(String command) {
        try {
            return AgentControl.execute(command);
        } catch (IllegalStateException | IllegalArgumentException refused) {
            return "refused: " + refused.getMessage();
        }
    }

    private static void workInBursts() throws InterruptedException {
        while (true) {
            Cpu.ofThisThread(2).burn();
            Thread.sleep(5); // as a thread that waits for its next task
        }
    }
}
