import java.nio.file.Path;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** The task of benches/reader with the JDK's own reader. */
public final class RecordingFileReader {
    public static void main(String[] args) throws Exception {
        Rounds.run(args, RecordingFileReader::read);
    }

    private static void read(String file, Rounds.Totals seen) throws Exception {
        try (RecordingFile recording = new RecordingFile(Path.of(file))) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                if (event.getEventType().getName().equals("jdk.ExecutionSample")) {
                    sample(event, seen);
                }
            }
        }
    }

    private static void sample(RecordedEvent event, Rounds.Totals seen) {
        RecordedThread thread = event.getValue("sampledThread");
        if (thread != null) {
            String name = thread.getJavaName() != null ? thread.getJavaName() : thread.getOSName();
            seen.thread(name == null ? 0 : name.length());
        }
        seen.samples++;
        RecordedStackTrace stack = event.getStackTrace();
        if (stack == null) {
            return;
        }
        for (RecordedFrame frame : stack.getFrames()) {
            int length = frame.getMethod().getType().getName().length()
                    + frame.getMethod().getName().length();
            seen.frame(length, frame.getLineNumber());
        }
    }
}
