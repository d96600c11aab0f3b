import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs a reader in one process for some seconds, once at least, and prints: best time in ns (see
 * main.rs), samples, sum, peak memory in KiB.
 */
final class Rounds {
    /** What a reader saw: the sum is the same for all readers that read the same. */
    static final class Totals {
        long samples;
        private long sum;
        private long threads;

        void thread(int nameLength) {
            threads += nameLength;
        }

        /** Lines count only where all readers keep them: async-profiler's has 16 bits. */
        void frame(int namesLength, int line) {
            sum += namesLength;
            if (line > 0 && line < 65535) {
                sum += line;
            }
        }
    }

    interface Reader {
        void read(String file, Totals seen) throws Exception;
    }

    static void run(String[] args, Reader reader) throws Exception {
        long best = Long.MAX_VALUE;
        Totals seen = null;
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        while (seen == null || System.nanoTime() < end) {
            seen = new Totals();
            long start = System.nanoTime();
            long cpu = cpuNanos();
            reader.read(args[0], seen);
            long wall = System.nanoTime() - start;
            best = Math.min(best, wall > 200_000_000 ? cpuNanos() - cpu : wall);
        }
        if (seen.threads < 0) {
            throw new IllegalStateException(
                    "never: keeps the threads' names from being optimized away");
        }
        System.out.println(best + " " + seen.samples + " " + seen.sum + " " + peakKib());
    }

    /**
     * Of this thread; garbage collection and compilation, on threads of their own, are left out.
     */
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static String peakKib() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .findFirst()
                .map(line -> line.replaceAll("\\D", ""))
                .orElse("0");
    }
}
