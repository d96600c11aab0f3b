import java.nio.file.Path;
import org.openjdk.jmc.flightrecorder.writer.api.Recording;
import org.openjdk.jmc.flightrecorder.writer.api.Recordings;
import org.openjdk.jmc.flightrecorder.writer.api.Type;
import org.openjdk.jmc.flightrecorder.writer.api.Types;

/** A recording of Mission Control's writer, with a field of every kind but arrays: FILE. */
public final class WriteMissionControl {
    private static final String[] TEXTS = {"", "plain", "é日", "😀", "a \"quoted\" one\n"};

    public static void main(String[] args) throws Exception {
        try (Recording recording = Recordings.newRecording(Path.of(args[0]))) {
            Type place = recording.registerType(
                    "test.Place",
                    type -> type.addField("name", Types.Builtin.STRING)
                            .addField("number", Types.Builtin.LONG));
            Type event = recording.registerEventType(
                    "test.Event",
                    type -> type.addField("text", Types.Builtin.STRING)
                            .addField("aLong", Types.Builtin.LONG)
                            .addField("anInt", Types.Builtin.INT)
                            .addField("aShort", Types.Builtin.SHORT)
                            .addField("aByte", Types.Builtin.BYTE)
                            .addField("aBoolean", Types.Builtin.BOOLEAN)
                            .addField("aFloat", Types.Builtin.FLOAT)
                            .addField("aDouble", Types.Builtin.DOUBLE)
                            .addField("place", place));
            for (long n = 0; n < 200; n++) {
                write(recording, event, n);
            }
        }
    }

    private static void write(Recording recording, Type event, long n) {
        recording.writeEvent(event.asValue(value -> value.putField("startTime", System.nanoTime())
                .putField("text", TEXTS[(int) (n % TEXTS.length)])
                .putField("aLong", n * 1_000_000_007L)
                .putField("anInt", (int) -n)
                .putField("aShort", (short) n)
                .putField("aByte", (byte) -n)
                .putField("aBoolean", n % 2 == 0)
                .putField("aFloat", n / 4f)
                .putField("aDouble", n / 8.0)
                .putField(
                        "place",
                        place -> place.putField("name", "place " + n % 7)
                                .putField("number", n % 7))));
    }

    private WriteMissionControl() {}
}
