import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes the class files of {@code java.base} into one file: for each its name, as a Java UTF
 * string, its length and its bytes.
 */
public class ClassFiles {
    public static void main(String[] arguments) throws IOException {
        Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");
        List<Path> files;
        try (var all = Files.walk(root)) {
            files = all.filter(file -> file.toString().endsWith(".class"))
                    .sorted()
                    .collect(Collectors.toList());
        }
        Path target = Path.of(arguments[0]);
        try (var out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(target)))) {
            for (Path file : files) {
                byte[] bytes = Files.readAllBytes(file);
                out.writeUTF(root.relativize(file).toString().replace(".class", ""));
                out.writeInt(bytes.length);
                out.write(bytes);
            }
        }
    }
}
