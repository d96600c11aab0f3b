import io.ctxagent.AgentControl;
import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Signal;

/**
 * Something else takes a signal of the recording, as another profiler would: {@code PROF|VTALRM
 * WORDS}. Works until {@code status} has those words, then tries a pause and a resume.
 */
public final class HandlerReplacement {
    public static void main(String[] args) {
        AtomicInteger met = new AtomicInteger();
        Signal.handle(new Signal(args[0]), signal -> met.incrementAndGet());
        String wanted = "state: " + args[1];
        while (!AgentControl.execute("status").contains(wanted)) {
            Cpu.ofProcess(10).burn();
        }
        int before = met.get();
        for (int i = 0; i < 100; i++) {
            Cpu.ofProcess(10).burn();
        }
        System.out.println("met " + before + " later " + (met.get() - before));
        for (String command : new String[] {"pause", "status", "resume", "stop"}) {
            try {
                System.out.println(AgentControl.execute(command));
            } catch (IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }
}
