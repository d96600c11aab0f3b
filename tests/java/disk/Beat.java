import java.io.RandomAccessFile;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel.MapMode;

/**
 * Uses CPU time without end and writes down when: moments in nanoseconds since the epoch, over and
 * over into the file {@code beats}, as a mapping, so that they are there however the process ends.
 */
public final class Beat {
    private static final int KEPT = 1 << 16;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile("beats", "rw")) {
            LongBuffer beats = file.getChannel()
                    .map(MapMode.READ_WRITE, 0, (long) KEPT * Long.BYTES)
                    .asLongBuffer();
            System.out.println("ready");
            for (int beat = 0; ; beat = (beat + 1) % KEPT) {
                beats.put(beat, System.currentTimeMillis() * 1_000_000);
                for (int i = 0; i < 50_000; i++) {
                    sink += i;
                }
            }
        }
    }
}
