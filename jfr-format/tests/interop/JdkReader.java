import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK sees in recordings: by its API, and by the commands of its {@code jfr} tool, called
 * in this process so that a JVM is started once and not two hundred times. Not {@code print}: it
 * closes the standard output.
 */
public final class JdkReader {
    private static final int VERSION = Runtime.version().feature();
    private static final PrintStream OUT = System.out;

    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[0]);
        for (int i = 1; i < args.length; i++) {
            Path file = Path.of(args[i]);
            OUT.println("file " + file);
            read(file);
            tools(file, Files.createTempDirectory(work, "tools"));
        }
        OUT.flush();
    }

    private static void read(Path file) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                counts.merge(event.getEventType().getName(), 1L, Long::sum);
                if (event.hasField("stackTrace")) {
                    sample(event);
                }
            }
        }
        counts.forEach((type, count) -> OUT.println("count " + type + " " + count));
    }

    private static void sample(RecordedEvent event) {
        RecordedThread thread =
                event.getValue(event.hasField("sampledThread") ? "sampledThread" : "eventThread");
        StringJoiner frames = new StringJoiner(";");
        for (RecordedFrame frame : event.getStackTrace().getFrames()) {
            frames.add(Text.frame(
                    frame.getMethod().getType().getName() + "."
                            + frame.getMethod().getName(),
                    frame.getLineNumber()));
        }
        String name = thread.getJavaName() != null ? thread.getJavaName() : thread.getOSName();
        String state = event.hasField("state") ? event.getString("state") : "-";
        TreeMap<String, String> context = new TreeMap<>();
        for (ValueDescriptor field : event.getFields()) {
            // A reference to a simple type shows as what is in it.
            boolean column = field.getTypeName().equals("java.lang.String")
                    && !field.getName().equals("state");
            if (column && event.getValue(field.getName()) != null) {
                context.put(
                        field.getName(),
                        field.getName() + "=" + Text.escape(event.getString(field.getName())));
            }
        }
        String weight = event.hasField("samples")
                ? event.getValue("samples").toString()
                : event.hasField("weight") ? event.getValue("weight").toString() : "-";
        OUT.println("sample " + event.getEventType().getName() + " " + Text.escape(name) + " "
                + Text.escape(state) + " " + frames + " " + weight + " ["
                + String.join(",", context.values()) + "]");
    }

    private static void tools(Path path, Path work) throws Exception {
        String file = path.toString();
        summary("summary:", file);
        OUT.println("count metadata:types "
                + jfr("metadata", file)
                        .lines()
                        .filter(line -> line.startsWith("class "))
                        .count());
        if (VERSION >= 21) {
            OUT.println("view " + jfr("view", "hot-methods", file).contains("%"));
            jfr("view", "--verbose", "jdk.ExecutionSample", file);
            Path scrubbed = work.resolve("scrubbed.jfr");
            jfr(
                    "scrub",
                    "--include-events",
                    "jdk.ExecutionSample,profiler.WallClockSample",
                    file,
                    scrubbed.toString());
            summary("scrub:", scrubbed.toString());
        }
        Path parts = Files.createDirectory(work.resolve("parts"));
        jfr("disassemble", "--max-chunks", "1", "--output", parts.toString(), file);
        Path again = work.resolve("again.jfr");
        jfr("assemble", parts.toString(), again.toString());
        OUT.println("same " + (Files.mismatch(path, again) == -1));
    }

    private static void summary(String prefix, String file) throws Exception {
        jfr("summary", file).lines().map(line -> line.trim().split(" +")).forEach(words -> {
            boolean row =
                    words.length == 3 && words[0].contains(".") && words[1].matches("[1-9][0-9]*");
            if (row) {
                OUT.println("count " + prefix + words[0] + " " + words[1]);
            }
        });
    }

    /**
     * Runs a command of the tool, without its {@code main}, which ends the process. Throws what the
     * command throws.
     */
    private static String jfr(String name, String... arguments) throws Exception {
        Class<?> type = Class.forName("jdk.jfr.internal.tool.Command");
        Method find = type.getDeclaredMethod("valueOf", String.class);
        Method execute = type.getDeclaredMethod("execute", Deque.class);
        find.setAccessible(true);
        execute.setAccessible(true);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        execute.invoke(find.invoke(null, name), new ArrayDeque<>(List.of(arguments)));
        System.out.flush();
        System.setOut(OUT);
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private JdkReader() {}
}
