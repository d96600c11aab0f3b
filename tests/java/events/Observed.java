import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

/**
 * Known allocations and known waits, under labels: {@code alloc|lock platform|virtual [arrays per
 * thread]}.
 *
 * <p>alloc: arrays of 1000 ints, 70 of 100 under the label {@code seventy}, the rest under {@code
 * thirty}; prints the bytes of all. lock: {@value #WAITS} times, one thread labelled {@code waiter}
 * waits for a monitor that another one, labelled {@code holder}, gives back 5 or 20 ms after the
 * wait has begun. Prints of each wait when the waiter came, when it waited for sure, when the
 * holder let go, when the waiter went on, in nanoseconds; then the holder's id and the number.
 */
public final class Observed {
    private static final int THREADS = 4;
    private static int rounds = 60_000;
    /**
     * The events of so many arrays of all threads fit into the agent's queue, at one for 64 KiB: on
     * a busy machine nobody may look at it meanwhile.
     */
    private static final int PORTION = 12_000;

    private static final int LAST = 10;
    private static final int INTS = 1000;
    private static final int WAITS = 50;
    /** By turns, so that an event which is shifted by its own length does not fit. */
    private static final int[] HOLD_MILLIS = {5, 20};

    private static volatile long comes;
    private static volatile long goesOn;
    private static volatile int[] sink;

    public static void main(String[] args) throws Exception {
        boolean virtual = args[1].equals("virtual");
        if (args.length > 2) {
            rounds = Integer.parseInt(args[2]);
        }
        if (args[0].equals("alloc")) {
            allocate(virtual);
        } else {
            Thread holder = Threads.start(virtual, "holder", () -> contend(virtual));
            holder.join();
            System.out.println("holder " + id(holder));
            System.out.println("waits " + WAITS);
        }
        // Here, not at the end of the JVM: a busy machine may need longer than that grants.
        AgentControl.execute("stop");
    }

    private static void allocate(boolean virtual) throws Exception {
        CyclicBarrier portion = new CyclicBarrier(THREADS, () -> AgentControl.execute("dump"));
        List<Thread> threads = Threads.start(virtual, THREADS, "observed", i -> {
            for (int left = rounds; left > 0; left -= PORTION) {
                arrays(Math.min(left, PORTION));
                portion.await();
            }
            // The last ones meet an empty queue.
            arrays(LAST);
        });
        Threads.join(threads);
        System.out.println("bytes " + (long) THREADS * (rounds + LAST) * (16 + 4 * INTS));
    }

    private static void arrays(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            try (RecordingContext c = RecordingContext.where(
                            "label", i % 10 < 7 ? "seventy" : "thirty")
                    .build()) {
                sink = new int[INTS];
            }
            if (i % 1000 == 999) {
                Thread.sleep(1);
            }
        }
    }

    private static void contend(boolean virtual) throws InterruptedException {
        Gate gate = new Gate();
        try (RecordingContext c = RecordingContext.where("label", "holder").build()) {
            for (int i = 0; i < WAITS; i++) {
                MonitorWait wait = new MonitorWait(virtual);
                Thread waiter;
                long waits;
                long leaves;
                synchronized (gate) {
                    waiter = Threads.start(virtual, "waiter", () -> {
                        try (RecordingContext w =
                                RecordingContext.where("label", "waiter").build()) {
                            wait.comes();
                            comes = System.nanoTime();
                            waitForIt(gate);
                            goesOn = System.nanoTime();
                        }
                    });
                    // It begins while this thread runs: one that goes to sleep is for some
                    // microseconds not itself (its carrier, on 21).
                    wait.awaitBegin(waiter);
                    waits = System.nanoTime();
                    Thread.sleep(HOLD_MILLIS[i % 2]);
                    leaves = System.nanoTime();
                }
                waiter.join();
                System.out.println(
                        "wait-" + i + " " + comes + " " + waits + " " + leaves + " " + goesOn);
            }
        }
    }

    private static void waitForIt(Gate gate) {
        synchronized (gate) {
            gate.entered++;
        }
    }

    @SuppressWarnings("deprecation") // its successor is not in 17
    private static long id(Thread thread) {
        return thread.getId();
    }

    /** What is waited for. */
    static final class Gate {
        int entered;
    }
}
