import java.util.concurrent.locks.LockSupport;

/**
 * Threads that work in bursts, with sleeps between: {@code THREADS BURST_MICROS SLEEP_MICROS
 * MILLIS}, the last one the CPU time of each. With a sleep of 0 they work without a pause; instead
 * of 0 threads the main thread works. Prints {@code ready}, and {@code NAME used NANOS ns} for each.
 */
public final class Bursts {
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        long burst = Long.parseLong(args[1]) * 1_000;
        long sleep = Long.parseLong(args[2]) * 1_000;
        long each = Long.parseLong(args[3]) * 1_000_000;
        System.out.println("ready");
        if (threads.length == 0) {
            live(burst, sleep, each);
        }
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> live(burst, sleep, each), "bursts-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void live(long burst, long sleep, long each) {
        long used = 0;
        while (used < each) {
            long end = used + burst;
            while (used < end) {
                for (int i = 0; i < 2_000; i++) {
                    sink = sink * 31 + i;
                }
                used = Cpu.usedByThisThread();
            }
            if (sleep > 0) {
                LockSupport.parkNanos(sleep); // sleeping is what it is about
            }
        }
        String line = Thread.currentThread().getName() + " used " + used + " ns\n";
        System.out.print(line);
    }

    private Bursts() {
    }
}
