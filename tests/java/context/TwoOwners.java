import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests under two libraries that know nothing of each other: an application's scopes of {@code
 * tenant}, and a tracer that sets {@code trace_id}, in place or by a snapshot. They open and close
 * in every order, on platform and virtual threads: {@code CPU_MILLIS}.
 *
 * <p>All work is done in methods that are called by those whose names tell what is set until they
 * return; both values come from the number of the request. Prints what the agent counted of closes
 * out of order.
 */
public final class TwoOwners {
    private static final RecordingContextKey TRACE = RecordingContextKey.raw("trace_id");
    private static final RecordingContextKey TENANT = RecordingContextKey.forName("tenant");
    private static final int TENANTS = 64;
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            Cpu half = Cpu.ofProcess(Long.parseLong(args[0]) / 2);
            Threads.join(Threads.start(virtual, 8, "owner", i -> {
                Random random = new Random(i);
                while (half.isLeft()) {
                    new Request(virtual, random).handle();
                }
            }));
        }
        System.out.println("closes out of order: " + Status.counter("api.close_out_of_order"));
    }

    /** The tracer's part of a request. */
    private static final class Span {
        private final String id;
        /** Set in place if there is none. */
        private final RecordingContext.Snapshot snapshot;

        private RecordingContext.Activation activation;

        /** At a time when nothing is set. */
        Span(long request, boolean inPlace) {
            id = String.format("%016x", request);
            if (inPlace) {
                snapshot = null;
            } else {
                try (RecordingContext context =
                        RecordingContext.where(TRACE, id).build()) {
                    snapshot = RecordingContext.snapshot();
                }
            }
        }

        void open() {
            if (snapshot == null) {
                RecordingContext.put(TRACE, id);
            } else {
                activation = snapshot.activate();
            }
        }

        void close() {
            if (snapshot == null) {
                RecordingContext.remove(TRACE);
            } else {
                activation.close();
            }
        }
    }

    /** The application's part, and all orders in which it meets the tracer's. */
    private static final class Request {
        private final boolean virtual;
        private final Random random;
        private final String tenant;
        private final Span span;

        Request(boolean virtual, Random random) {
            long number = REQUESTS.incrementAndGet();
            this.virtual = virtual;
            this.random = random;
            tenant = "tenant-" + number % TENANTS;
            span = new Span(number, random.nextBoolean());
        }

        void handle() throws InterruptedException {
            switch (random.nextInt(5)) {
                case 0 -> traceAroundTenant();
                case 1 -> traceEndsInsideNested();
                case 2 -> traceOutlivesTenant();
                case 3 -> traceEndsBeforeNested();
                default -> handedOver();
            }
            inNone();
        }

        private RecordingContext open() {
            return RecordingContext.where(TENANT, tenant).build();
        }

        private RecordingContext openNested() {
            return RecordingContext.where(TENANT, tenant + "/nested").build();
        }

        private void traceAroundTenant() {
            span.open();
            inTrace();
            RecordingContext outer = open();
            inTenantAndTrace();
            RecordingContext nested = openNested();
            inNestedAndTrace();
            nested.close();
            inTenantAndTrace();
            outer.close();
            inTrace();
            span.close();
        }

        private void traceEndsInsideNested() {
            RecordingContext outer = open();
            inTenant();
            span.open();
            inTenantAndTrace();
            RecordingContext nested = openNested();
            inNestedAndTrace();
            span.close();
            inNested();
            nested.close();
            inTenant();
            outer.close();
        }

        private void traceOutlivesTenant() {
            RecordingContext outer = open();
            RecordingContext nested = openNested();
            inNested();
            span.open();
            inNestedAndTrace();
            nested.close();
            inTenantAndTrace();
            outer.close();
            inTrace();
            span.close();
        }

        private void traceEndsBeforeNested() {
            span.open();
            RecordingContext outer = open();
            inTenantAndTrace();
            span.close();
            inTenant();
            RecordingContext nested = openNested();
            inNested();
            nested.close();
            outer.close();
        }

        /** The tracer ends its part on another thread, before the application's hand-over ends. */
        private void handedOver() throws InterruptedException {
            RecordingContext outer = open();
            span.open();
            Runnable task = RecordingContext.wrap(() -> {
                inTenantAndTrace();
                RecordingContext nested = openNested();
                inNestedAndTrace();
                RecordingContext.remove(TRACE);
                inNested();
                nested.close();
                inTenant();
            });
            Thread thread = Threads.start(virtual, "owner-task", () -> {
                task.run();
                inNone();
            });
            span.close();
            inTenant();
            outer.close();
            thread.join();
        }

        private void inNone() {
            compute();
            rest();
            compute();
        }

        private void inTenant() {
            compute();
            rest();
            compute();
        }

        private void inNested() {
            compute();
            rest();
            compute();
        }

        private void inTrace() {
            compute();
            rest();
            compute();
        }

        private void inTenantAndTrace() {
            compute();
            rest();
            compute();
        }

        private void inNestedAndTrace() {
            compute();
            rest();
            compute();
        }

        /** A virtual thread may change its carrier. */
        private void rest() {
            if (virtual) {
                Thread.yield();
            }
        }
    }

    /** Far longer than a thread takes to start, whose CPU time is in the budget too. */
    private static void compute() {
        long x = 1;
        for (int i = 0; i < 60_000; i++) {
            x = x * 6_364_136_223_846_793_005L + i;
        }
        sink = x;
    }
}
