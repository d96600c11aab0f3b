import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads whose wall-clock time is known: {@code SECONDS}. Under labels, each for the whole time:
 * {@code sleep} sleeps, {@code park} is parked, {@code monitor} waits for a monitor, {@code read}
 * reads from a pipe that gives nothing, {@code busy} computes; one thread has no label. Prints how
 * long each was under its label: a line {@code LABEL MILLISECONDS}. Ends the recording itself: a
 * busy machine may need longer for that than the end of a JVM grants.
 */
public final class Walls {
    private static final Object HELD = new Object();
    private static volatile boolean over;
    private static long sink;

    public static void main(String[] args) throws Exception {
        long millis = Long.parseLong(args[0]) * 1000;
        java.nio.channels.Pipe pipe = java.nio.channels.Pipe.open();
        List<Thread> threads = new ArrayList<>();
        synchronized (HELD) {
            threads.add(start("sleep", () -> Thread.sleep(millis)));
            threads.add(start("park", Walls::park));
            threads.add(start("monitor", Walls::waitForMonitor));
            threads.add(start("read", () -> pipe.source().read(java.nio.ByteBuffer.allocate(1))));
            threads.add(start("busy", Walls::compute));
            threads.add(start(null, () -> Thread.sleep(millis)));
            Thread.sleep(millis);
            over = true;
        }
        pipe.sink().write(java.nio.ByteBuffer.wrap(new byte[1]));
        threads.forEach(LockSupport::unpark);
        Threads.join(threads);
        AgentControl.execute("stop");
    }

    private static Thread start(String label, Threads.Body body) {
        return Threads.start("walls-" + label, () -> {
            if (label == null) {
                body.run();
                return;
            }
            long begin = System.nanoTime();
            try (RecordingContext c = RecordingContext.where("label", label).build()) {
                body.run();
            }
            System.out.println(label + " " + (System.nanoTime() - begin) / 1_000_000);
        });
    }

    private static void park() {
        while (!over) {
            LockSupport.park();
        }
    }

    private static void waitForMonitor() {
        synchronized (HELD) {
            sink++;
        }
    }

    private static void compute() {
        while (!over) {
            Work.spin(10_000);
        }
    }
}
