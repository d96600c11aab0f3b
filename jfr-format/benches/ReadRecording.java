import java.nio.file.*;
import jdk.jfr.consumer.*;

/** Reads a recording with the JDK's own reader: every event, and every name behind every sample. Prints the best of the rounds. */
public class ReadRecording {
  static long work(Path file) throws Exception {
    long sum = 0;
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        sum++;
        if (!event.getEventType().getName().endsWith("Sample")) continue;
        if (!event.hasField("sampledThread")) continue;
        RecordedThread thread = event.getValue("sampledThread");
        if (thread != null && thread.getJavaName() != null) sum += thread.getJavaName().length();
        RecordedStackTrace stack = event.getStackTrace();
        if (stack == null) continue;
        for (RecordedFrame frame : stack.getFrames()) {
          sum += frame.getMethod().getType().getName().length() + frame.getMethod().getName().length() + frame.getLineNumber();
        }
      }
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    long best = Long.MAX_VALUE, sum = 0;
    for (int round = 0; round < Integer.parseInt(args[1]); round++) {
      long start = System.nanoTime();
      sum = work(Path.of(args[0]));
      best = Math.min(best, System.nanoTime() - start);
    }
    System.out.println(best + " " + sum);
  }
}
