// release: 21
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that work a little and block, again and again. Arguments: how ({@code deep} =
 * parked, twenty calls deep, {@code sleep}), how many threads, milliseconds.
 */
public final class BlockingDeep {
    private static volatile long sink;

    public static void main(String[] args) throws InterruptedException {
        boolean isDeep = args[0].equals("deep");
        long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            threads.add(Thread.startVirtualThread(() -> {
                while (System.nanoTime() < end) {
                    if (isDeep) {
                        descend(20);
                    } else {
                        sleep();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void descend(int calls) {
        if (calls > 0) {
            descend(calls - 1);
            return;
        }
        spin(30_000);
        LockSupport.parkNanos(200_000);
    }

    private static void sleep() {
        spin(50_000);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Asks for the time, so the stack below is that of a function of the system. */
    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        long x = 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 50; i++) {
                x = x * 31 + i;
            }
        }
        sink = x;
    }
}
