import io.ctxagent.AgentControl;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Something else takes the signal of the samples and gives it back at once, as another profiler
 * would that runs for a moment. The main thread works all the time, another one in bursts with
 * sleeps between. Ends when both were sampled as before for a while.
 */
public final class TakenBack {
    private static volatile long sink;

    public static void main(String[] args) {
        Threads.startDaemon("bursts", () -> {
            while (true) {
                Cpu.ofThisThread(2).burn();
                Thread.sleep(5); // as a thread that waits for its next task
            }
        });
        until("written", 20);
        Signal prof = new Signal("PROF");
        SignalHandler ours = Signal.handle(prof, signal -> sink++);
        // Each timer that is armed comes meanwhile.
        Cpu.ofThisThread(30).burn();
        Signal.handle(prof, ours);
        System.out.println("given back");
        until("written", 300);
        System.out.println(AgentControl.execute("stop"));
    }

    /** Works until a counter has gone up by {@code more}. */
    private static void until(String counter, long more) {
        long enough = Status.counter(counter) + more;
        while (Status.counter(counter) < enough) {
            Cpu.ofThisThread(20).burn();
        }
    }
}
