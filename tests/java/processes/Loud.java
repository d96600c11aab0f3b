import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Prints to standard output while it works for so long: {@code MILLIS}. Then says on standard error
 * which descriptors the files of ours have: {@code descriptor NUMBER NAME}.
 */
public final class Loud {
    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        while (System.nanoTime() < end) {
            Work.spin(100_000);
            System.out.println("a line of the application's own");
        }
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                if (Files.isSymbolicLink(descriptor)) {
                    Path name = Files.readSymbolicLink(descriptor).getFileName();
                    System.err.println("descriptor " + descriptor.getFileName() + " " + name);
                }
            }
        }
    }
}
