import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import one.convert.Arguments;
import one.convert.JfrToHeatmap;
import one.jfr.ClassRef;
import one.jfr.JfrReader;
import one.jfr.MethodRef;
import one.jfr.StackTrace;
import one.jfr.event.Event;
import one.jfr.event.ExecutionSample;

/** What async-profiler's converter sees in recordings, and what its conversions add up to. */
public final class AsyncProfiler {
    private static final PrintStream OUT = System.out;

    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[0]);
        for (int i = 1; i < args.length; i++) {
            OUT.println("file " + args[i]);
            read(args[i]);
            convert(args[i], Files.createTempDirectory(work, "converted"));
        }
    }

    private static void read(String file) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        try (JfrReader reader = new JfrReader(file)) {
            for (Event event; (event = reader.readEvent()) != null; ) {
                counts.merge(event.getClass().getSimpleName(), 1L, Long::sum);
                if (event instanceof ExecutionSample sample) {
                    sample(reader, sample);
                }
            }
        }
        counts.forEach((type, count) -> OUT.println("count " + type + " " + count));
    }

    private static void sample(JfrReader reader, ExecutionSample sample) {
        StackTrace stack = reader.stackTraces.get(sample.stackTraceId);
        StringJoiner frames = new StringJoiner(";");
        for (int i = 0; i < stack.methods.length; i++) {
            MethodRef method = reader.methods.get(stack.methods[i]);
            ClassRef type = reader.classes.get(method.cls);
            String name = new String(reader.symbols.get(type.name)).replace('/', '.') + "."
                    + new String(reader.symbols.get(method.name));
            // The converter keeps 16 bits of the line number.
            frames.add(Text.frame(name, stack.locations[i] >>> 16));
        }
        String state = reader.enums.get("jdk.types.ThreadState").get(sample.threadState);
        OUT.println("sample ExecutionSample " + Text.escape(reader.threads.get(sample.tid)) + " "
                + Text.escape(state) + " " + frames + " " + sample.samples());
    }

    private static void convert(String file, Path work) throws Exception {
        Path collapsed = run(file, work, "collapsed");
        OUT.println("count collapsed "
                + Files.readAllLines(collapsed).stream()
                        .mapToLong(
                                line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                        .sum());
        OUT.println("count pprof " + Protobuf.total(Files.readAllBytes(run(file, work, "pprof"))));
        if (AsyncProfiler.class.getClassLoader().getResource("one/convert/JfrToOtlp.class")
                != null) {
            OUT.println("count otlp:period "
                    + Protobuf.period(Files.readAllBytes(run(file, work, "otlp"))));
            OUT.println("count otlp:wall:period "
                    + Protobuf.period(Files.readAllBytes(run(file, work, "otlp", "--wall"))));
        }
        // The width of the root frame: n(KEY, WIDTH).
        Matcher root = Pattern.compile("(?m)^n\\(\\d+,(\\d+)")
                .matcher(Files.readString(run(file, work, "html")));
        OUT.println("count html " + (root.find() ? root.group(1) : "none"));
        // The page itself is compressed: counted is what goes into it.
        if (Files.size(run(file, work, "heatmap")) < 10_000) {
            throw new IllegalStateException("heatmap without content");
        }
        try (JfrReader reader = new JfrReader(file)) {
            JfrToHeatmap heatmap =
                    new JfrToHeatmap(reader, new Arguments("-o", "heatmap", file, "x.html"));
            heatmap.convert();
            Object samples = field(field(field(heatmap, "heatmap"), "state"), "sampleList");
            OUT.println("count heatmap "
                    + samples.getClass().getMethod("getRecordsCount").invoke(samples));
        }
    }

    private static Object field(Object object, String name) throws Exception {
        Field field = object.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static Path run(String file, Path work, String format, String... options)
            throws Exception {
        Class<?> main;
        try {
            main = Class.forName("one.convert.Main");
        } catch (ClassNotFoundException older) {
            main = Class.forName("Main");
        }
        Path result = work.resolve("out." + format);
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        List<String> words = new ArrayList<>(List.of("-o", format));
        words.addAll(List.of(options));
        words.addAll(List.of(file, result.toString()));
        main.getMethod("main", String[].class).invoke(null, (Object) words.toArray(String[]::new));
        System.setOut(OUT);
        return result;
    }

    private static final class Protobuf {
        private final byte[] bytes;
        private int at;

        private Protobuf(byte[] bytes) {
            this.bytes = bytes;
        }

        /**
         * The sum of the first values in an uncompressed pprof profile: field 2 = sample, its field
         * 2 = values.
         */
        static long total(byte[] profile) {
            Protobuf top = new Protobuf(profile);
            long[] sum = {0};
            top.each((tag, content) -> {
                if (tag == 2) {
                    boolean[] first = {true};
                    new Protobuf(content).each((inner, values) -> {
                        if (inner == 2 && first[0]) {
                            sum[0] += new Protobuf(values).varint();
                            first[0] = false;
                        }
                    });
                }
            });
            return sum[0];
        }

        /**
         * The sampling period of an OTLP profile: resource (field 1), scope (2), profile (2),
         * period (6); the last one, and all are alike.
         */
        static long period(byte[] profiles) {
            long[] period = {0};
            within(profiles, new int[] {1, 2, 2, 6}, value -> {
                long found = new Protobuf(value).varint();
                if (period[0] != 0 && period[0] != found) {
                    throw new IllegalStateException("periods " + period[0] + " and " + found);
                }
                period[0] = found;
            });
            return period[0];
        }

        /** Gives each field at the end of this path to {@code take}. */
        private static void within(byte[] message, int[] path, Consumer<byte[]> take) {
            if (path.length == 0) {
                take.accept(message);
                return;
            }
            new Protobuf(message).each((tag, content) -> {
                if (tag == path[0]) {
                    within(content, Arrays.copyOfRange(path, 1, path.length), take);
                }
            });
        }

        private interface Visitor {
            void visit(int tag, byte[] content);
        }

        private void each(Visitor visitor) {
            while (at < bytes.length) {
                long key = varint();
                if ((key & 7) == 0) {
                    int start = at;
                    varint();
                    visitor.visit((int) (key >> 3), Arrays.copyOfRange(bytes, start, at));
                } else if ((key & 7) == 2) {
                    int length = (int) varint();
                    at += length;
                    visitor.visit((int) (key >> 3), Arrays.copyOfRange(bytes, at - length, at));
                } else if ((key & 7) == 1) {
                    at += Long.BYTES;
                } else {
                    throw new IllegalStateException("wire type " + (key & 7));
                }
            }
        }

        private long varint() {
            long value = 0;
            for (int shift = 0; ; shift += 7) {
                byte b = bytes[at++];
                value |= (long) (b & 0x7f) << shift;
                if (b >= 0) {
                    return value;
                }
            }
        }
    }

    private AsyncProfiler() {}
}
