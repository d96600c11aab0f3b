package io.ctxagent.bench;

import java.util.concurrent.TimeUnit;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** An event of the JDK's recorder around the work, with one and with eight strings. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JfrEventBench {
    @Name("bench.One")
    static class One extends Event {
        String v0;
    }

    @Name("bench.Eight")
    static class Eight extends Event {
        String v0;
        String v1;
        String v2;
        String v3;
        String v4;
        String v5;
        String v6;
        String v7;
    }

    /** A recording that keeps no stacks. */
    @State(Scope.Benchmark)
    public static class Recorder {
        private Recording recording;

        /** Starts it. */
        @Setup
        public void start() {
            recording = new Recording();
            recording.setMaxSize(16 << 20);
            recording.enable(One.class).withoutStackTrace().withoutThreshold();
            recording.enable(Eight.class).withoutStackTrace().withoutThreshold();
            recording.start();
        }

        /** Drops it. */
        @TearDown
        public void stop() {
            recording.close();
        }
    }

    @Benchmark
    public void jfrEventOne(Recorder recorder, PeersBench.Values v) {
        One e = new One();
        e.begin();
        e.v0 = v.v0;
        e.commit();
    }

    @Benchmark
    public void jfrEventEight(Recorder recorder, PeersBench.Values v) {
        Eight e = new Eight();
        e.begin();
        e.v0 = v.v0;
        e.v1 = v.v1;
        e.v2 = v.v2;
        e.v3 = v.v3;
        e.v4 = v.v4;
        e.v5 = v.v5;
        e.v6 = v.v6;
        e.v7 = v.v7;
        e.commit();
    }
}
