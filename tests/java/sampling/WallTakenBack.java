import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Something else takes the signal of the wall-clock samples and gives it back: {@code TAKEN} when
 * {@code status} says so, {@code MET} when it has met a signal, and again if that was noticed
 * before. The main thread works, and is the only one with a context. Ends when it was sampled as
 * before for a while.
 */
public final class WallTakenBack {
    private static final String NOTICED =
            "degraded (another owner has taken the wall-clock signal)";

    public static void main(String[] args) {
        try (RecordingContext c = RecordingContext.where("label", "main").build()) {
            untilSampled();
            AtomicInteger met = new AtomicInteger();
            boolean isMet = args[0].equals("MET");
            do {
                Signal signal = new Signal("VTALRM");
                SignalHandler ours = Signal.handle(signal, s -> met.incrementAndGet());
                while (!(isMet && met.get() > 0 || Status.of("state").equals(NOTICED))) {
                    Cpu.ofThisThread(5).burn();
                }
                Signal.handle(signal, ours);
                untilSampled();
            } while (isMet && met.get() == 0);
        }
        System.out.println("state: " + Status.of("state"));
        System.out.println(AgentControl.execute("stop"));
    }

    private static void untilSampled() {
        long enough = Status.counter("wall.written") + 3;
        while (Status.counter("wall.written") < enough) {
            Cpu.ofThisThread(5).burn();
        }
    }
}
