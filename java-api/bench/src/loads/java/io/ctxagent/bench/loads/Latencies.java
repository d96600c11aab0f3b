package io.ctxagent.bench.loads;

/**
 * How long operations took: counts by duration, 16 buckets for each doubling, one array per worker.
 */
final class Latencies {
    private static final int FINE = 16;
    static final int BUCKETS = 64 * FINE;

    private final long[][] counts;

    Latencies(int workers) {
        counts = new long[workers][BUCKETS];
    }

    static int bucket(long nanos) {
        long n = Math.max(nanos, FINE);
        int doubling = 63 - Long.numberOfLeadingZeros(n);
        return doubling * FINE + (int) (n >>> (doubling - 4)) % FINE;
    }

    private static double nanos(int bucket) {
        return Math.scalb(1 + (bucket % FINE + 0.5) / FINE, bucket / FINE);
    }

    long[] of(int worker) {
        return counts[worker];
    }

    void add(Latencies other) {
        for (int worker = 0; worker < counts.length; worker++) {
            for (int i = 0; i < BUCKETS; i++) {
                counts[worker][i] += other.counts[worker][i];
            }
        }
    }

    /** Operations. */
    long total() {
        long sum = 0;
        for (long[] of : counts) {
            for (long n : of) {
                sum += n;
            }
        }
        return sum;
    }

    /** The duration that this share of the operations did not reach, in microseconds, to 3 %. */
    double quantileMicros(double share) {
        long left = (long) (total() * share);
        for (int i = 0; i < BUCKETS; i++) {
            for (long[] of : counts) {
                left -= of[i];
            }
            if (left < 0) {
                return nanos(i) / 1e3;
            }
        }
        return Double.NaN;
    }
}
