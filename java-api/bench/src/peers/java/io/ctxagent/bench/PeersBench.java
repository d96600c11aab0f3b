package io.ctxagent.bench;

import ch.qos.logback.classic.util.LogbackMDCAdapter;
import com.datadoghq.profiler.ContextSetter;
import com.datadoghq.profiler.JavaProfiler;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.pyroscope.labels.v2.LabelsSet;
import io.pyroscope.labels.v2.Pyroscope;
import io.pyroscope.labels.v2.ScopedContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.slf4j.MDC;

/**
 * Set and clear one and eight strings: this API and what else carries strings with a thread. Each
 * in a VM of its own.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PeersBench {
    static final int EIGHT = 8;

    private static final RecordingContextKey[] OURS = IntStream.range(0, EIGHT)
            .mapToObj(i -> RecordingContextKey.forName("bench" + i))
            .toArray(RecordingContextKey[]::new);
    private static final RecordingContextKey K0 = OURS[0];
    private static final RecordingContextKey K1 = OURS[1];
    private static final RecordingContextKey K2 = OURS[2];
    private static final RecordingContextKey K3 = OURS[3];
    private static final RecordingContextKey K4 = OURS[4];
    private static final RecordingContextKey K5 = OURS[5];
    private static final RecordingContextKey K6 = OURS[6];
    private static final RecordingContextKey K7 = OURS[7];

    private static final ContextKey<String> O0 = ContextKey.named("bench0");
    private static final ContextKey<String> O1 = ContextKey.named("bench1");
    private static final ContextKey<String> O2 = ContextKey.named("bench2");
    private static final ContextKey<String> O3 = ContextKey.named("bench3");
    private static final ContextKey<String> O4 = ContextKey.named("bench4");
    private static final ContextKey<String> O5 = ContextKey.named("bench5");
    private static final ContextKey<String> O6 = ContextKey.named("bench6");
    private static final ContextKey<String> O7 = ContextKey.named("bench7");

    private static final ThreadLocal<String> LOCAL = new ThreadLocal<>();

    /** The values; not constants to the compiler. */
    @State(Scope.Thread)
    public static class Values {
        String v0 = "checkout";
        String v1 = "tenant-1";
        String v2 = "GET";
        String v3 = "eu-west-1";
        String v4 = "gold";
        String v5 = "blue";
        String v6 = "order";
        String v7 = "web";
    }

    @Benchmark
    public void ctxagentOne(Values v) {
        RecordingContext.where(K0, v.v0).build().close();
    }

    @Benchmark
    public void ctxagentEight(Values v) {
        RecordingContext.where(K0, v.v0)
                .where(K1, v.v1)
                .where(K2, v.v2)
                .where(K3, v.v3)
                .where(K4, v.v4)
                .where(K5, v.v5)
                .where(K6, v.v6)
                .where(K7, v.v7)
                .build()
                .close();
    }

    @Benchmark
    public void openTelemetryOne(Values v) {
        Context.current().with(O0, v.v0).makeCurrent().close();
    }

    @Benchmark
    public void openTelemetryEight(Values v) {
        Context.current()
                .with(O0, v.v0)
                .with(O1, v.v1)
                .with(O2, v.v2)
                .with(O3, v.v3)
                .with(O4, v.v4)
                .with(O5, v.v5)
                .with(O6, v.v6)
                .with(O7, v.v7)
                .makeCurrent()
                .close();
    }

    /** Logback's map of the thread. */
    @State(Scope.Benchmark)
    public static class Logback {
        /** Fails where another logging library is on the class path. */
        @Setup
        public void check() {
            if (!(MDC.getMDCAdapter() instanceof LogbackMDCAdapter)) {
                throw new IllegalStateException(
                        "expected logback's MDC, found " + MDC.getMDCAdapter());
            }
        }
    }

    @Benchmark
    public void mdcOne(Logback logback, Values v) {
        MDC.put("bench0", v.v0);
        MDC.remove("bench0");
    }

    @Benchmark
    public void mdcEight(Logback logback, Values v) {
        MDC.put("bench0", v.v0);
        MDC.put("bench1", v.v1);
        MDC.put("bench2", v.v2);
        MDC.put("bench3", v.v3);
        MDC.put("bench4", v.v4);
        MDC.put("bench5", v.v5);
        MDC.put("bench6", v.v6);
        MDC.put("bench7", v.v7);
        MDC.remove("bench0");
        MDC.remove("bench1");
        MDC.remove("bench2");
        MDC.remove("bench3");
        MDC.remove("bench4");
        MDC.remove("bench5");
        MDC.remove("bench6");
        MDC.remove("bench7");
    }

    /** Datadog's profiler, recording. */
    @State(Scope.Benchmark)
    public static class Ddprof {
        private Path file;
        private JavaProfiler profiler;
        ContextSetter setter;

        /** Starts it. */
        @Setup
        public void start() throws IOException {
            file = Files.createTempFile("ddprof", ".jfr");
            profiler = JavaProfiler.getInstance();
            String[] names =
                    IntStream.range(0, EIGHT).mapToObj(i -> "bench" + i).toArray(String[]::new);
            profiler.execute(
                    "start,cpu=10ms,jfr,file=" + file + ",attributes=" + String.join(";", names));
            setter = new ContextSetter(profiler, Arrays.asList(names));
        }

        /** Stops it. */
        @TearDown
        public void stop() throws IOException {
            profiler.execute("stop");
            Files.delete(file);
        }

        /** All threads need it before their first value. */
        @State(Scope.Thread)
        public static class Registered {
            /** Tells the profiler of this thread. */
            @Setup(Level.Trial)
            public void register(Ddprof profiler) {
                profiler.profiler.addThread();
            }
        }
    }

    @Benchmark
    public boolean ddprofOne(Ddprof d, Ddprof.Registered r, Values v) {
        return d.setter.setContextValue(0, v.v0) & d.setter.clearContextValue(0);
    }

    @Benchmark
    public boolean ddprofEight(Ddprof d, Ddprof.Registered r, Values v) {
        ContextSetter s = d.setter;
        boolean set = s.setContextValue(0, v.v0)
                & s.setContextValue(1, v.v1)
                & s.setContextValue(2, v.v2)
                & s.setContextValue(3, v.v3)
                & s.setContextValue(4, v.v4)
                & s.setContextValue(5, v.v5)
                & s.setContextValue(6, v.v6)
                & s.setContextValue(7, v.v7);
        return set
                & s.clearContextValue(0)
                & s.clearContextValue(1)
                & s.clearContextValue(2)
                & s.clearContextValue(3)
                & s.clearContextValue(4)
                & s.clearContextValue(5)
                & s.clearContextValue(6)
                & s.clearContextValue(7);
    }

    /** Pyroscope's labels pile up until they are dumped, so that is part of their cost. */
    @State(Scope.Thread)
    public static class Labels {
        private static final int DUMP = 50_000;
        private int left = DUMP;

        /**
         * Labels are switched off until the agent has started; its native part is loaded at the
         * first one.
         */
        @Setup
        public void enable() {
            ScopedContext.ENABLED.set(true);
        }

        void count() {
            if (--left == 0) {
                left = DUMP;
                Pyroscope.LabelsWrapper.dump();
            }
        }
    }

    @Benchmark
    public void pyroscopeOne(Labels l, Values v) {
        new ScopedContext(new LabelsSet("bench0", v.v0)).close();
        l.count();
    }

    @Benchmark
    public void pyroscopeEight(Labels l, Values v) {
        new ScopedContext(new LabelsSet(
                        "bench0", v.v0, "bench1", v.v1, "bench2", v.v2, "bench3", v.v3, "bench4",
                        v.v4, "bench5", v.v5, "bench6", v.v6, "bench7", v.v7))
                .close();
        l.count();
    }

    @Benchmark
    public void threadLocalOne(Values v) {
        LOCAL.set(v.v0);
        LOCAL.remove();
    }
}
