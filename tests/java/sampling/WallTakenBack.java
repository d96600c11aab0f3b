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
    private static volatile long sink;

    public static void main(String[] args) {
        try (RecordingContext c = RecordingContext.where("label", "main").build()) {
            untilSampled();
            AtomicInteger met = new AtomicInteger();
            boolean isMet = args[0].equals("MET");
            do {
                Signal signal = new Signal("VTALRM");
                SignalHandler ours = Signal.handle(signal, s -> met.incrementAndGet());
                while (!(isMet && met.get() > 0 || status("state").equals(NOTICED))) {
                    work();
                }
                Signal.handle(signal, ours);
                untilSampled();
            } while (isMet && met.get() == 0);
        }
        System.out.println("state: " + status("state"));
        System.out.println(AgentControl.execute("stop"));
    }

    private static void untilSampled() {
        long enough = written() + 3;
        while (written() < enough) {
            work();
        }
    }

    private static long written() {
        String figure = status("wall.written");
        return figure.isEmpty() ? 0 : Long.parseLong(figure);
    }

    /** What {@code status} says of this, or nothing. */
    private static String status(String name) {
        for (String line : AgentControl.execute("status").split("\n")) {
            if (line.startsWith(name + ": ")) {
                return line.substring(name.length() + 2);
            }
        }
        return "";
    }

    private static void work() {
        Cpu budget = Cpu.ofThisThread(5);
        while (budget.isLeft()) {
            sink++;
        }
    }

    private WallTakenBack() {
    }
}
