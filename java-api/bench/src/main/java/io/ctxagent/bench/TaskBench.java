package io.ctxagent.bench;

import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a task of the JDK costs that carries a context without a change of code ({@code propagate}).
 * One operation submits a task to an executor that runs it at once, so that no hand-over between
 * threads hides the cost. The least of the iterations counts. Needs the agent.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 15, time = 60, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class TaskBench {
    /** The mechanisms that are on. */
    @Param({"none", "futures"})
    public String propagate;

    /** Whether the thread has a context. */
    @Param({"false", "true"})
    public boolean hasContext;

    private final AbstractExecutorService executor = new SameThread();
    private long calls;
    private final Callable<Long> task = () -> ++calls;
    private Path directory;
    private RecordingContext context;

    @Setup
    public void start() throws IOException {
        directory = Files.createTempDirectory("tasks");
        // No sample within an iteration.
        AgentControl.execute("start,interval=1s,file=" + directory.resolve("tasks.jfr")
                + (propagate.equals("none") ? "" : ",propagate=" + propagate));
        context = RecordingContext.where("tenant", "acme").build();
        if (!hasContext) {
            context.close();
        }
    }

    @TearDown
    public void stop() throws IOException {
        context.close();
        AgentControl.execute("stop");
        Files.delete(directory.resolve("tasks.jfr"));
        Files.delete(directory);
    }

    @Benchmark
    public Future<Long> submitAndRun() {
        return executor.submit(task);
    }

    private static final class SameThread extends AbstractExecutorService {
        @Override
        public void execute(Runnable body) {
            body.run();
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
