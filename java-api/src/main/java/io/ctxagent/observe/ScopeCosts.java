package io.ctxagent.observe;

/** Of how many scopes the CPU time is measured. */
final class ScopeCosts {
    /**
     * Reading CPU time twice takes a microsecond: of a thread that opens more scopes than this in
     * the long run not all are measured, so that it costs about one percent.
     */
    static final long PERIOD_NANOS = 100_000;
    /** Scopes that may come at once. */
    static final int BURST = 64;

    /**
     * Of a thread that opens more of them one in so many periods is measured: where scopes come by
     * the million, one percent is much.
     */
    private static final int PERIODS_OF_MANY = 5;

    /**
     * Of each thread, until when its measurements are paid for, 0: it has none so far; and how many
     * scopes it opened since the last one.
     */
    private static final ThreadLocal<long[]> PAID = ThreadLocal.withInitial(() -> new long[2]);

    private ScopeCosts() {}

    /** Whether to measure a scope that the current thread opens now. */
    static boolean pays(long now) {
        long[] paid = PAID.get();
        long earliest = now - BURST * PERIOD_NANOS;
        long until = paid[0] == 0 || paid[0] - earliest < 0 ? earliest : paid[0];
        if (until + PERIOD_NANOS - now > 0) {
            paid[1]++;
            return false;
        }
        paid[0] = until + PERIOD_NANOS * (paid[1] < PERIODS_OF_MANY ? 1 : PERIODS_OF_MANY);
        paid[1] = 0;
        return true;
    }
}
