import io.ctxagent.AgentControl;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives the collector work, then ends the recording and prints what the kernel says of CPU time
 * (nanoseconds) of the collector's threads: {@code (GC) NANOS}. The JVM is to have all of them from
 * the start.
 */
public final class Families {
    private static final int KEPT = 40_000;

    public static void main(String[] args) throws Exception {
        long before = cpuOfCollector();
        Cpu budget = Cpu.ofProcess(1_500);
        List<byte[][]> kept = new ArrayList<>();
        for (int i = 0; budget.isLeft(); i++) {
            // Many small objects that live for a while: they are copied.
            byte[][] object = new byte[8][64];
            if (kept.size() < KEPT) {
                kept.add(object);
            } else {
                kept.set(i % KEPT, object);
            }
        }
        long after = cpuOfCollector();
        AgentControl.execute("stop");
        System.out.println("kept " + kept.size());
        System.out.println("(GC) " + (after - before));
    }

    private static long cpuOfCollector() throws IOException {
        long sum = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            String name = nameOf(task);
            if (name.startsWith("GC Thread") || name.startsWith("G1 ")) {
                sum += Long.parseLong(
                        Files.readString(Path.of(task.getPath(), "schedstat")).split(" ")[0]);
            }
        }
        return sum;
    }

    /** Empty for a thread that has ended meanwhile; those of the collector do not. */
    private static String nameOf(File task) {
        try {
            return Files.readString(Path.of(task.getPath(), "comm"));
        } catch (IOException e) {
            return "";
        }
    }
}
