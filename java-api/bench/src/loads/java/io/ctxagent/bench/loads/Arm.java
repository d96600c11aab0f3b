package io.ctxagent.bench.loads;

import io.ctxagent.AgentControl;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import one.profiler.AsyncProfiler;

/**
 * One way to run a phase: a profiler that samples in it, or none. All are in the process all the
 * time and between phases none samples, but the rest of them stays on: our class events and our
 * writer, which wakes 50 times a second and flushes and looks at {@code /proc} once a second, the
 * JDK's recording, whatever a stopped async-profiler does.
 */
interface Arm {
    /** Not all that begins is on at once; the caller waits a moment. */
    void begin() throws IOException;

    void end() throws IOException;

    /** Nothing samples. */
    final class None implements Arm {
        @Override
        public void begin() {}

        @Override
        public void end() {}
    }

    /**
     * Our agent: its recording is paused between phases. A signal of its own, like async-profiler.
     */
    final class Ctxagent implements Arm {
        /** Further options of ours, like {@code ,cstack=no}: what a part costs. */
        private static final String OPTIONS = System.getProperty("bench.options", "");

        Ctxagent(Path directory, long intervalMillis) {
            AgentControl.execute("start,event=cpu,signal=40,interval=" + intervalMillis + "ms,file="
                    + directory.resolve("ours.jfr") + OPTIONS);
            AgentControl.execute("pause");
        }

        @Override
        public void begin() {
            AgentControl.execute("resume");
        }

        @Override
        public void end() {
            AgentControl.execute("pause");
        }
    }

    /**
     * async-profiler with this engine; it keeps what it has in memory and goes on with it. Signals
     * of its own: JDK 25 wants SIGPROF for itself.
     */
    final class Async implements Arm {
        private final AsyncProfiler profiler = AsyncProfiler.getInstance();
        private final String options;

        Async(String engine, long intervalMillis) {
            options = ",event=" + engine + ",signal=41/42,interval=" + intervalMillis + "ms";
        }

        @Override
        public void begin() throws IOException {
            profiler.execute("resume" + options);
        }

        @Override
        public void end() throws IOException {
            profiler.execute("stop");
        }
    }

    /** JDK 25's CPU time samples, switched on and off in a recording that runs all the time. */
    final class Jfr implements Arm {
        private static final String EVENT = "jdk.CPUTimeSample";
        private final Recording recording = new Recording();
        private final Duration interval;

        Jfr(Path directory, long intervalMillis) throws IOException {
            interval = Duration.ofMillis(intervalMillis);
            recording.setDestination(directory.resolve("jdk.jfr"));
            recording.disable(EVENT);
            recording.start();
        }

        @Override
        public void begin() {
            recording
                    .enable(EVENT)
                    .with("throttle", interval.toMillis() + " ms")
                    .withStackTrace();
        }

        @Override
        public void end() {
            recording.disable(EVENT);
        }
    }
}
