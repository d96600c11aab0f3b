package io.ctxagent.observe;

/** What a thread has used when a scope opens, and the scope when it closes. */
final class ScopeCosts {
    /**
     * Reading CPU time twice takes a microsecond: of a thread that opens more scopes than this in
     * the long run not all are measured, so that it costs about one percent.
     */
    static final long PERIOD_NANOS = 100_000;
    /** Scopes that may come at once. */
    static final int BURST = 64;

    /** Of each thread, until when its measurements are paid for; 0: it has none so far. */
    private static final ThreadLocal<long[]> PAID = ThreadLocal.withInitial(() -> new long[1]);

    private static final long NOT_KNOWN = -1;

    private final long cpuBefore;
    private final long allocatedBefore;

    private ScopeCosts(long cpuBefore, long allocatedBefore) {
        this.cpuBefore = cpuBefore;
        this.allocatedBefore = allocatedBefore;
    }

    /** {@code null}: the VM counts nothing for the thread. */
    static ScopeCosts begin(long now) {
        long allocated = ThreadCounters.allocatedBytes();
        return allocated < 0
                ? null
                : new ScopeCosts(pays(now) ? ThreadCounters.cpuNanos() : NOT_KNOWN, allocated);
    }

    private static boolean pays(long now) {
        long[] paid = PAID.get();
        long earliest = now - BURST * PERIOD_NANOS;
        long until = paid[0] == 0 || paid[0] - earliest < 0 ? earliest : paid[0];
        boolean pays = until + PERIOD_NANOS - now <= 0;
        if (pays) {
            paid[0] = until + PERIOD_NANOS;
        }
        return pays;
    }

    /** Bytes since; to be asked for before {@link #cpuNanos}, and before anything is allocated. */
    long allocatedBytes() {
        return ThreadCounters.allocatedBytes() - allocatedBefore;
    }

    /** CPU time since; -1 if that is not measured. */
    long cpuNanos() {
        return cpuBefore < 0 ? NOT_KNOWN : ThreadCounters.cpuNanos() - cpuBefore;
    }
}
