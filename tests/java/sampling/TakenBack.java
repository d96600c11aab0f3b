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
        Thread bursts = new Thread(() -> {
            while (true) {
                work(Cpu.ofThisThread(2));
                sleep();
            }
        });
        bursts.setDaemon(true);
        bursts.start();
        until("written", 20);
        Signal prof = new Signal("PROF");
        SignalHandler ours = Signal.handle(prof, signal -> sink++);
        // Each timer that is armed comes meanwhile.
        work(Cpu.ofThisThread(30));
        Signal.handle(prof, ours);
        System.out.println("given back");
        until("written", 300);
        System.out.println(AgentControl.execute("stop"));
    }

    /** Works until a counter has gone up by {@code more}. */
    private static void until(String counter, long more) {
        long enough = figure(counter) + more;
        while (figure(counter) < enough) {
            work(Cpu.ofThisThread(20));
        }
    }

    private static long figure(String counter) {
        for (String line : AgentControl.execute("status").split("\n")) {
            if (line.startsWith(counter + ": ")) {
                return Long.parseLong(line.substring(counter.length() + 2));
            }
        }
        return 0;
    }

    private static void work(Cpu budget) {
        while (budget.isLeft()) {
            sink++;
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(5); // as a thread that waits for its next task
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private TakenBack() {
    }
}
