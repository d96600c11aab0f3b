import java.util.concurrent.locks.LockSupport;

/**
 * Threads that work in bursts, with sleeps between: {@code THREADS BURST_MICROS SLEEP_MICROS
 * MILLIS}, the last one the CPU time of each. With a sleep of 0 they work without a pause; instead
 * of 0 threads the main thread works. Prints {@code ready}, and {@code NAME used NANOS ns} for
 * each.
 */
public final class Bursts {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long burst = Long.parseLong(args[1]) * 1_000;
        long sleep = Long.parseLong(args[2]) * 1_000;
        long each = Long.parseLong(args[3]) * 1_000_000;
        System.out.println("ready");
        if (threads == 0) {
            live(burst, sleep, each);
        }
        Threads.run(threads, "bursts", i -> live(burst, sleep, each));
    }

    private static void live(long burst, long sleep, long each) {
        long used = 0;
        while (used < each) {
            long end = used + burst;
            while (used < end) {
                Work.spin(2_000);
                used = Cpu.usedByThisThread();
            }
            if (sleep > 0) {
                LockSupport.parkNanos(sleep); // sleeping is what it is about
            }
        }
        String line = Thread.currentThread().getName() + " used " + used + " ns\n";
        System.out.print(line);
    }
}
