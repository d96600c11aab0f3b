import one.jfr.ClassRef;
import one.jfr.JfrReader;
import one.jfr.MethodRef;
import one.jfr.StackTrace;
import one.jfr.event.ExecutionSample;

/**
 * The task of benches/reader with async-profiler's JfrReader. It cannot tell native and wall-clock
 * samples from CPU samples, and reads them too.
 */
public final class ConverterReader {
    public static void main(String[] args) throws Exception {
        Rounds.run(args, ConverterReader::read);
    }

    private static void read(String file, Rounds.Totals seen) throws Exception {
        try (JfrReader reader = new JfrReader(file)) {
            for (ExecutionSample sample;
                    (sample = reader.readEvent(ExecutionSample.class)) != null; ) {
                sample(reader, sample, seen);
            }
        }
    }

    private static void sample(JfrReader reader, ExecutionSample sample, Rounds.Totals seen) {
        String thread = reader.threads.get(sample.tid);
        seen.thread(thread == null ? 0 : thread.length());
        seen.samples++;
        StackTrace stack = reader.stackTraces.get(sample.stackTraceId);
        if (stack == null) {
            return;
        }
        for (int i = 0; i < stack.methods.length; i++) {
            MethodRef method = reader.methods.get(stack.methods[i]);
            ClassRef type = reader.classes.get(method.cls);
            seen.frame(
                    reader.symbols.get(type.name).length + reader.symbols.get(method.name).length,
                    stack.locations[i] >>> 16);
        }
    }
}
