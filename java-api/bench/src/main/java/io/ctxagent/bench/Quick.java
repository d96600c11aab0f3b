package io.ctxagent.bench;

import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import io.ctxagent.internal.agent.AgentDouble;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The hot path in some seconds, on a machine that others use too: the minimum over many short runs,
 * which a busy neighbour does not change, and the bytes allocated. JMH's averages ({@link
 * ScopeBench}) need a quiet machine. A shape is measured after all before it, so with a profile of
 * all of them: closer to an application, and worse for the compiler, than one VM each; name shapes
 * to measure them alone.
 */
public final class Quick {
    private static final int LOOPS = 10_000;
    private static final int RUNS = 600;

    private static final RecordingContextKey K0 = RecordingContextKey.forName("bench0");
    private static final RecordingContextKey K1 = RecordingContextKey.forName("bench1");
    private static final RecordingContextKey K2 = RecordingContextKey.forName("bench2");
    private static final RecordingContextKey K3 = RecordingContextKey.forName("bench3");
    private static final RecordingContextKey K4 = RecordingContextKey.forName("bench4");
    private static final RecordingContextKey K5 = RecordingContextKey.forName("bench5");
    private static final RecordingContextKey K6 = RecordingContextKey.forName("bench6");
    private static final RecordingContextKey RAW = RecordingContextKey.raw("bench7");

    private static final ByteBuffer BUFFER =
            ByteBuffer.allocateDirect(128).order(ByteOrder.LITTLE_ENDIAN);

    private static String v0 = "checkout";
    private static String v1 = "tenant-1";
    private static String v2 = "GET";
    private static String v3 = "eu-west-1";
    private static String v4 = "gold";
    private static String v5 = "blue";
    private static String v6 = "order";
    private static String id16 = "0af7651916cd43dd";
    private static String id36 = "123e4567-e89b-12d3-a456-426614174000";
    private static final String[] TURNS = {"tenant-1", "tenant-2", "tenant-3", "tenant-4"};
    private static RecordingContext.Snapshot snapshot;
    private static RecordingContext sink;
    private static int calls;

    private final String name;
    private final Shape shape;

    private Quick(String name, Shape shape) {
        this.name = name;
        this.shape = shape;
    }

    /** Runs all shapes, or those named. */
    public static void main(String[] names) throws Exception {
        AgentDouble.connect();
        Quick[] all = shapes();
        System.out.println("Java " + Runtime.version() + ", "
                + ManagementFactory.getRuntimeMXBean().getInputArguments());
        List<String> wanted = new ArrayList<>(List.of(names));
        // "again": a second time, when the compiler has seen all shapes.
        int rounds = wanted.remove("again") ? 2 : 1;
        for (int round = 0; round < rounds; round++) {
            for (Quick q : inOrder(all, wanted)) {
                q.measure("platform");
            }
            if (Runtime.version().feature() >= 21
                    && (wanted.isEmpty() || wanted.contains("virtual"))) {
                // By name: this file is compiled for Java 17.
                Thread thread = (Thread) Thread.class
                        .getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, (Runnable) Quick::onVirtual);
                thread.join();
            }
        }
    }

    private static Quick[] shapes() {
        try (RecordingContext c = RecordingContext.where(K0, v0)
                .where(K1, v1)
                .where(K2, v2)
                .where(K3, v3)
                .where(K4, v4)
                .where(K5, v5)
                .where(K6, v6)
                .build()) {
            snapshot = RecordingContext.snapshot();
        }
        return new Quick[] {
            new Quick("reference", Quick::reference),
            new Quick("one", Quick::one),
            new Quick("one-by-name", Quick::oneByName),
            new Quick("two-around-a-call", Quick::twoAroundCall),
            new Quick("one-in-one", Quick::oneInOne),
            new Quick("one-escaping", Quick::oneEscaping),
            new Quick("snapshot-of-seven", Quick::snapshotOfSeven),
            new Quick("seven-by-turns", Quick::sevenByTurns),
            new Quick("seven-and-raw", Quick::sevenAndRaw),
            new Quick("two-and-raw", Quick::twoAndRaw),
            new Quick("raw-16", Quick::raw16),
            new Quick("raw-36", Quick::raw36),
            new Quick("by-turns", Quick::byTurns),
            new Quick("put", Quick::put)
        };
    }

    /**
     * Runs all shapes so often that the compiler has seen them, raw values and values by turns
     * among them.
     */
    static void warmUp() {
        for (int round = 0; round < 50; round++) {
            for (Quick q : shapes()) {
                q.shape.run(LOOPS);
            }
        }
    }

    /**
     * Those named, in the order in which they were named: the compiler sees them in that order. All
     * if none is named.
     */
    private static List<Quick> inOrder(Quick[] all, List<String> names) {
        if (names.isEmpty()) {
            return List.of(all);
        }
        List<Quick> chosen = new ArrayList<>();
        for (String name : names) {
            for (Quick q : all) {
                if (q.name.equals(name)) {
                    chosen.add(q);
                }
            }
        }
        return chosen;
    }

    private static void onVirtual() {
        RecordingContext.where(K1, v1)
                .run(() -> new Quick("one, in a scope", Quick::one).measure("virtual"));
        new Quick("one, outermost", Quick::one).measure("virtual");
        RecordingContext.where(K1, v1)
                .run(() -> new Quick("one, in a scope, then", Quick::one).measure("virtual"));
        new Quick("seven-and-raw, outermost", Quick::sevenAndRaw).measure("virtual");
    }

    private void measure(String thread) {
        com.sun.management.ThreadMXBean memory =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        boolean counted = thread.equals("platform");
        long best = Long.MAX_VALUE;
        long bytes = 0;
        for (int run = 0; run < RUNS; run++) {
            // Not supported on virtual threads.
            long before = counted ? memory.getCurrentThreadAllocatedBytes() : 0;
            long start = System.nanoTime();
            shape.run(LOOPS);
            best = Math.min(best, System.nanoTime() - start);
            bytes = counted ? memory.getCurrentThreadAllocatedBytes() - before : 0;
        }
        System.out.println(String.format(
                Locale.ROOT,
                "%-8s  %-22s %6.2f ns  %s",
                thread,
                name,
                best / (double) LOOPS,
                counted ? bytes / LOOPS + " B" : ""));
    }

    /** A loop of its own for each shape, so that what is called is known to the compiler. */
    private interface Shape {
        void run(int loops);
    }

    /**
     * What a single-threaded store of one number under a sequence costs here and now: to compare
     * machines and hours by.
     */
    private static void reference(int loops) {
        for (int i = 0; i < loops; i++) {
            int saved = BUFFER.getInt(16);
            BUFFER.putInt(8, BUFFER.getInt(8) | 1);
            VarHandle.storeStoreFence();
            BUFFER.putInt(16, i);
            VarHandle.releaseFence();
            BUFFER.putInt(8, BUFFER.getInt(8) + 1);
            VarHandle.storeStoreFence();
            BUFFER.putInt(16, saved);
        }
    }

    private static void one(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(K0, v0).build().close();
        }
    }

    private static void oneByName(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where("bench0", v0).build().close();
        }
    }

    private static void twoAroundCall(int loops) {
        for (int i = 0; i < loops; i++) {
            try (RecordingContext c =
                    RecordingContext.where(K0, v0).where(K1, v1).build()) {
                called();
            }
        }
    }

    private static void called() {
        calls++;
    }

    private static void oneInOne(int loops) {
        for (int i = 0; i < loops; i++) {
            try (RecordingContext a = RecordingContext.where(K0, v0).build()) {
                RecordingContext.where(K1, v1).build().close();
            }
        }
    }

    private static void oneEscaping(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext c = RecordingContext.where(K0, v0).build();
            sink = c;
            c.close();
        }
    }

    private static void snapshotOfSeven(int loops) {
        for (int i = 0; i < loops; i++) {
            snapshot.activate().close();
        }
    }

    private static void sevenByTurns(int loops) {
        for (int i = 0; i < loops; i++) {
            String v = TURNS[i & 3];
            RecordingContext.where(K0, v)
                    .where(K1, v)
                    .where(K2, v)
                    .where(K3, v)
                    .where(K4, v)
                    .where(K5, v)
                    .where(K6, v)
                    .build()
                    .close();
        }
    }

    private static void sevenAndRaw(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(K0, v0)
                    .where(K1, v1)
                    .where(K2, v2)
                    .where(K3, v3)
                    .where(K4, v4)
                    .where(K5, v5)
                    .where(K6, v6)
                    .where(RAW, id16)
                    .build()
                    .close();
        }
    }

    /** What a service's filter often does: the route, the tenant, and the trace. */
    private static void twoAndRaw(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(K0, v0)
                    .where(K1, TURNS[i & 3])
                    .where(RAW, id16)
                    .build()
                    .close();
        }
    }

    /** Four values, so that none is the last one. */
    private static void byTurns(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(K1, TURNS[i & 3]).build().close();
        }
    }

    private static void raw16(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(RAW, id16).build().close();
        }
    }

    private static void raw36(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.where(RAW, id36).build().close();
        }
    }

    private static void put(int loops) {
        for (int i = 0; i < loops; i++) {
            RecordingContext.put(K0, v0);
        }
        RecordingContext.remove(K0);
    }
}
