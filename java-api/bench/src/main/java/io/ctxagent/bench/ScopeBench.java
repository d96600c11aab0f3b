package io.ctxagent.bench;

import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.internal.agent.AgentDouble;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Set and clear, in the shapes that the budgets name: each alone in its VM, and after all other
 * shapes were run and compiled there, as in an application. {@link #floor} is what to compare
 * machines and hours by. Scopes by the million in a second.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 6, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class ScopeBench {
    static {
        AgentDouble.connect();
    }

    private static final RecordingContextKey K0 = RecordingContextKey.forName("bench0");
    private static final RecordingContextKey K1 = RecordingContextKey.forName("bench1");
    private static final RecordingContextKey K2 = RecordingContextKey.forName("bench2");
    private static final RecordingContextKey K3 = RecordingContextKey.forName("bench3");
    private static final RecordingContextKey K4 = RecordingContextKey.forName("bench4");
    private static final RecordingContextKey K5 = RecordingContextKey.forName("bench5");
    private static final RecordingContextKey K6 = RecordingContextKey.forName("bench6");
    private static final RecordingContextKey K7 = RecordingContextKey.forName("bench7");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("bench7");

    private static final ByteBuffer BUFFER =
            ByteBuffer.allocateDirect(128).order(ByteOrder.LITTLE_ENDIAN);

    /** What the compiler saw before. */
    @Param({"alone", "all"})
    public String before;

    private String v0 = "checkout";
    private String v1 = "tenant-1";
    private String v2 = "GET";
    private String v3 = "eu-west-1";
    private String v4 = "gold";
    private String v5 = "blue";
    private String v6 = "order";
    private String id16 = "0af7651916cd43dd";
    private String id36 = "123e4567-e89b-12d3-a456-426614174000";
    private String[] tenants;
    private int turn;
    private RecordingContext.Snapshot eight;

    @Setup(Level.Trial)
    public void prepare() {
        tenants = new String[16];
        for (int i = 0; i < tenants.length; i++) {
            tenants[i] = "tenant-" + i;
        }
        try (RecordingContext c = seven().build()) {
            eight = RecordingContext.snapshot();
        }
        if (before.equals("all")) {
            Quick.warmUp();
        }
    }

    private RecordingContext.Builder seven() {
        return RecordingContext.where(K0, v0)
                .where(K1, v1)
                .where(K2, v2)
                .where(K3, v3)
                .where(K4, v4)
                .where(K5, v5)
                .where(K6, v6);
    }

    @Benchmark
    public void empty() {}

    /** A store under a sequence and its undoing, single-threaded: less than any scope must do. */
    @Benchmark
    public void floor() {
        int saved = BUFFER.getInt(16);
        BUFFER.putInt(8, BUFFER.getInt(8) | 1);
        VarHandle.storeStoreFence();
        BUFFER.putInt(16, turn++);
        VarHandle.releaseFence();
        BUFFER.putInt(8, BUFFER.getInt(8) + 1);
        VarHandle.storeStoreFence();
        BUFFER.putInt(16, saved);
    }

    @Benchmark
    public void one() {
        RecordingContext.where(K0, v0).build().close();
    }

    @Benchmark
    public void oneNested() {
        try (RecordingContext a = RecordingContext.where(K0, v0).build()) {
            RecordingContext.where(K1, v1).build().close();
        }
    }

    @Benchmark
    public void oneByName() {
        RecordingContext.where("bench0", v0).build().close();
    }

    @Benchmark
    public void oneOfSixteenValues() {
        RecordingContext.where(K1, tenants[turn++ & 15]).build().close();
    }

    @Benchmark
    public void oneEscaping(Blackhole hole) {
        RecordingContext c = RecordingContext.where(K0, v0).build();
        hole.consume(c);
        c.close();
    }

    @Benchmark
    public void two() {
        RecordingContext.where(K0, v0).where(K1, v1).build().close();
    }

    @Benchmark
    public void sevenValues() {
        seven().build().close();
    }

    @Benchmark
    public void eightValues() {
        RecordingContext.where(K0, v0)
                .where(K1, v1)
                .where(K2, v2)
                .where(K3, v3)
                .where(K4, v4)
                .where(K5, v5)
                .where(K6, v6)
                .where(K7, v6)
                .build()
                .close();
    }

    /**
     * A method that fills a builder and gives it to its caller: once it has been compiled by itself
     * it may be too large to be inlined.
     */
    @Benchmark
    public void eightFromHelper() {
        seven().where(K7, v6).build().close();
    }

    @Benchmark
    public void snapshotOfSeven() {
        eight.activate().close();
    }

    @Benchmark
    public void raw16() {
        RecordingContext.where(RAW, id16).build().close();
    }

    @Benchmark
    public void raw36() {
        RecordingContext.where(RAW, id36).build().close();
    }

    @Benchmark
    public void put() {
        RecordingContext.put(K0, v0);
    }
}
