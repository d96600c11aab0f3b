import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process has in memory. */
final class Resident {
    /** Resident set in KiB, as the kernel counts it. */
    static long kib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("/proc/self/status has no VmRSS");
    }
}
