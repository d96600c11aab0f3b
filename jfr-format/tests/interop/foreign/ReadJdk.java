import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK sees in recordings of other writers: per event type the number of events, and a sum
 * of hashes over the thread and the frames of those that have a stack. {@code foreign.rs} makes the
 * same of what our reader sees.
 */
public final class ReadJdk {
    public static void main(String[] args) {
        for (String file : args) {
            System.out.println("file " + file);
            Map<String, Long> counts = new TreeMap<>();
            try (RecordingFile recording = new RecordingFile(Path.of(file))) {
                Map<RecordedStackTrace, Long> known = new IdentityHashMap<>();
                while (recording.hasMoreEvents()) {
                    RecordedEvent event = recording.readEvent();
                    String type = event.getEventType().getName();
                    counts.merge("count " + type, 1L, Long::sum);
                    if (event.hasField("stackTrace")) {
                        RecordedStackTrace stack = stack(event);
                        long frames =
                                stack == null ? 0 : known.computeIfAbsent(stack, ReadJdk::frames);
                        counts.merge("sum " + type, 31 * frames + hash(thread(event)), Long::sum);
                    }
                }
                counts.forEach((name, count) -> System.out.println(name + " " + count));
            } catch (Throwable e) {
                System.out.println("error " + e);
            }
        }
    }

    /**
     * Mission Control's writer refers to stacks that are not in the file; the JDK takes the key for
     * the stack then, and fails.
     */
    private static RecordedStackTrace stack(RecordedEvent event) {
        try {
            return event.getStackTrace();
        } catch (ClassCastException notInTheFile) {
            return null;
        }
    }

    private static String thread(RecordedEvent event) {
        String field = event.hasField("sampledThread") ? "sampledThread" : "eventThread";
        RecordedThread thread = event.hasField(field) ? event.getThread(field) : null;
        if (thread == null) {
            return "-";
        }
        String name = thread.getJavaName() != null ? thread.getJavaName() : thread.getOSName();
        return name == null ? "-" : name;
    }

    private static long frames(RecordedStackTrace stack) {
        StringBuilder text = new StringBuilder();
        for (RecordedFrame frame : stack.getFrames()) {
            RecordedMethod method = frame.getMethod();
            RecordedClass type = method == null ? null : method.getType();
            text.append(type == null ? "" : String.valueOf(type.getName())).append('.');
            text.append(method == null ? "" : String.valueOf(method.getName()));
            text.append(':').append(Math.max(frame.getLineNumber(), 0)).append(';');
        }
        return hash(text.toString());
    }

    /** FNV-1a. */
    private static long hash(String text) {
        long hash = 0xcbf29ce484222325L;
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }

    private ReadJdk() {}
}
