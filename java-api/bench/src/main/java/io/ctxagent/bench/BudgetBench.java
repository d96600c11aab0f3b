package io.ctxagent.bench;

import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.internal.agent.AgentDouble;
import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Memory;
import io.ctxagent.internal.block.Slab;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What the budgets name, with values that come by turns, and floors to compare it with: what the
 * block alone costs, without an API and without anything done about misuse. One operation is set
 * and clear. The least of the iterations counts: a busy neighbour changes it least.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 15, time = 60, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class BudgetBench {
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

    private static final String[] VALUES = values(64);
    private static final String[] MANY = values(1_024);

    private String constant = VALUES[5];
    private int turn;
    private int calls;
    private char[] text = "/api/v1/endpoint/0".toCharArray();
    private RecordingContext.Snapshot eight;
    private Runnable task;
    private String[] cached = new String[256];
    private int[] ids = new int[256];

    private static String[] values(int count) {
        String[] values = new String[count];
        for (int i = 0; i < count; i++) {
            values[i] = "/api/v1/endpoint/" + i;
            values[i].hashCode();
        }
        return values;
    }

    private String next() {
        return VALUES[turn++ & 63];
    }

    @Setup(Level.Iteration)
    public void prepare() {
        try (RecordingContext c = eight().build()) {
            eight = RecordingContext.snapshot();
        }
        task = () -> calls++;
        for (int i = 0; i < VALUES.length; i++) {
            cached[VALUES[i].hashCode() & 255] = VALUES[i];
            ids[VALUES[i].hashCode() & 255] = i + 1;
        }
        // A block that no thread has: the floors' own.
        long key = CurrentThread.key();
        Memory.putLong(Slab.preferred(key + BlockLayout.BLOCKS / 2), BlockLayout.OWNER, key);
    }

    // ---- floors ---------------------------------------------------------------------------------

    private static long find() {
        long key = CurrentThread.key();
        long block = Slab.preferred(key + BlockLayout.BLOCKS / 2);
        if (Memory.getLong(block, BlockLayout.OWNER) != key) {
            throw new IllegalStateException();
        }
        return block;
    }

    private int id(String value) {
        int at = value.hashCode() & 255;
        return cached[at] == value ? ids[at] : 99;
    }

    private static void store(long block, int number, int at, int id) {
        Memory.putInt(block, BlockLayout.SEQUENCE, number + 1);
        VarHandle.storeStoreFence();
        Memory.putInt(block, at, id);
        VarHandle.storeStoreFence();
        Memory.putInt(block, BlockLayout.SEQUENCE, number + 2);
        VarHandle.storeStoreFence();
    }

    /** One slot under a sequence, the string looked up: the floor of the budgets. */
    @Benchmark
    public void floorOneSlot(Blackhole hole) {
        int id = id(next());
        long block = find();
        int number = Memory.getInt(block, BlockLayout.SEQUENCE);
        int before = Memory.getInt(block, BlockLayout.IDS);
        store(block, number, BlockLayout.IDS, id);
        hole.consume(hole);
        if (find() != block || Memory.getInt(block, BlockLayout.SEQUENCE) != number + 2) {
            throw new IllegalStateException();
        }
        store(block, number - 2, BlockLayout.IDS, before);
    }

    /** One slot without a sequence. */
    @Benchmark
    public void floorOneStore(Blackhole hole) {
        int id = id(next());
        long block = find();
        int before = Memory.getInt(block, BlockLayout.IDS);
        Memory.putInt(block, BlockLayout.IDS, id);
        VarHandle.storeStoreFence();
        hole.consume(hole);
        if (find() != block) {
            throw new IllegalStateException();
        }
        Memory.putInt(block, BlockLayout.IDS, before);
        VarHandle.storeStoreFence();
    }

    // ---- this API -------------------------------------------------------------------------------

    @Benchmark
    public void oneConstant() {
        RecordingContext.where(K0, constant).build().close();
    }

    @Benchmark
    public void oneByTurns() {
        RecordingContext.where(K0, next()).build().close();
    }

    @Benchmark
    public void oneOfManyByTurns() {
        RecordingContext.where(K0, MANY[turn++ & 1_023]).build().close();
    }

    /** What {@link #oneEqualButNew} does beside the scope. */
    @Benchmark
    public int newString() {
        text[17] = (char) ('0' + (turn++ & 7));
        return new String(text).hashCode();
    }

    @Benchmark
    public void oneEqualButNew() {
        text[17] = (char) ('0' + (turn++ & 7));
        RecordingContext.where(K0, new String(text)).build().close();
    }

    @Benchmark
    public void oneByNameByTurns() {
        RecordingContext.where("bench0", next()).build().close();
    }

    @Benchmark
    public void putAndRemove() {
        RecordingContext.put(K0, next());
        RecordingContext.remove(K0);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private void call() {
        calls++;
    }

    @Benchmark
    public void callAlone() {
        call();
    }

    @Benchmark
    public void oneAroundACall() {
        try (RecordingContext c = RecordingContext.where(K0, next()).build()) {
            call();
        }
    }

    @Benchmark
    public void oneEscaping(Blackhole hole) {
        RecordingContext c = RecordingContext.where(K0, next()).build();
        hole.consume(c);
        c.close();
    }

    @Benchmark
    public void twoNested() {
        try (RecordingContext outer = RecordingContext.where(K0, next()).build()) {
            RecordingContext.where(K1, next()).build().close();
        }
    }

    private RecordingContext.Builder eight() {
        return RecordingContext.where(K0, next())
                .where(K1, next())
                .where(K2, next())
                .where(K3, next())
                .where(K4, next())
                .where(K5, next())
                .where(K6, next())
                .where(K7, next());
    }

    @Benchmark
    public void eightByTurns() {
        RecordingContext.where(K0, next())
                .where(K1, next())
                .where(K2, next())
                .where(K3, next())
                .where(K4, next())
                .where(K5, next())
                .where(K6, next())
                .where(K7, next())
                .build()
                .close();
    }

    @Benchmark
    public void snapshotOfEight() {
        eight.activate().close();
    }

    @Benchmark
    public void wrapAndRun() {
        RecordingContext.wrap(task).run();
    }
}
