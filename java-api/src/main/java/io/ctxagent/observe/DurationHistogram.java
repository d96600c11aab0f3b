package io.ctxagent.observe;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * How often which length of time was seen, in nanoseconds, with three significant digits up to an
 * hour: the buckets of HdrHistogram, which reads {@link #encode}. 270 kB.
 *
 * <p>Threads: any, without a lock; what is read while others record, or reset, may lack some of it.
 * Cost: some ten nanoseconds for each length. Without the agent: as with it.
 *
 * @since 0.1
 */
public final class DurationHistogram {
    private static final int DIGITS = 3;
    /** Linear buckets for each power of two: 2048 tell three digits apart, half are new. */
    private static final int HALF_BITS = 10;

    private static final int HALF = 1 << HALF_BITS;
    private static final long MAX_NANOS = 3_600_000_000_000L;
    /** Powers of two until 2048 of them exceed the largest length. */
    private static final int POWERS = 32;

    /** HdrHistogram's mark of its format, version 2. */
    private static final int COOKIE = 0x1c849303 | 0x10;

    private static final int HEADER_BYTES = 40;
    private static final int MAX_COUNT_BYTES = 9;

    private final AtomicLongArray counts = new AtomicLongArray((POWERS + 1) << HALF_BITS);
    private final LongAdder exceeding = new LongAdder();
    private final LongAccumulator min = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private final LongAccumulator max = new LongAccumulator(Math::max, 0);

    /** An empty histogram. */
    public DurationHistogram() {}

    /**
     * Records a length. A negative one counts as zero; one of more than an hour as an hour, and
     * among {@link #exceeding}.
     *
     * @param nanos the length in nanoseconds
     */
    public void record(long nanos) {
        long fitting = Math.max(0, Math.min(nanos, MAX_NANOS));
        if (nanos > MAX_NANOS) {
            exceeding.increment();
        }
        min.accumulate(fitting);
        max.accumulate(fitting);
        counts.getAndIncrement(index(fitting));
    }

    private static int index(long nanos) {
        int power = power(nanos);
        return (power + 1 << HALF_BITS) + (int) (nanos >>> power) - HALF;
    }

    /** The power of two by which a length is divided to fit its buckets. */
    private static int power(long nanos) {
        return Long.SIZE - HALF_BITS - 1 - Long.numberOfLeadingZeros(nanos | 2 * HALF - 1);
    }

    private static long lowest(int index) {
        int power = Math.max(0, (index >> HALF_BITS) - 1);
        return (long) (index - (power << HALF_BITS)) << power;
    }

    private static long middle(int index) {
        long lowest = lowest(index);
        return lowest + (1L << power(lowest) >> 1);
    }

    private static long highest(int index) {
        long lowest = lowest(index);
        return lowest + (1L << power(lowest)) - 1;
    }

    /**
     * Lengths that were recorded.
     *
     * @return their number
     */
    public long count() {
        long sum = 0;
        for (int i = 0; i < counts.length(); i++) {
            sum += counts.get(i);
        }
        return sum;
    }

    /**
     * Lengths of more than an hour.
     *
     * @return their number
     */
    public long exceeding() {
        return exceeding.sum();
    }

    /**
     * The shortest length.
     *
     * @return the length, exact; zero if there is none; not {@code null}
     */
    public Duration min() {
        long nanos = min.get();
        return Duration.ofNanos(nanos == Long.MAX_VALUE ? 0 : nanos);
    }

    /**
     * The longest length.
     *
     * @return the length, exact; zero if there is none; not {@code null}
     */
    public Duration max() {
        return Duration.ofNanos(max.get());
    }

    /**
     * The mean length.
     *
     * @return the length; zero if there is none; not {@code null}
     */
    public Duration mean() {
        return Duration.ofNanos(Math.round(meanNanos()));
    }

    private double meanNanos() {
        double sum = 0;
        long all = 0;
        for (int i = 0; i < counts.length(); i++) {
            long count = counts.get(i);
            sum += (double) count * middle(i);
            all += count;
        }
        return all == 0 ? 0 : sum / all;
    }

    /**
     * The standard deviation.
     *
     * @return the deviation; zero if there is no length; not {@code null}
     */
    public Duration stddev() {
        double mean = meanNanos();
        double sum = 0;
        long all = 0;
        for (int i = 0; i < counts.length(); i++) {
            long count = counts.get(i);
            double difference = middle(i) - mean;
            sum += count * difference * difference;
            all += count;
        }
        return Duration.ofNanos(all == 0 ? 0 : Math.round(Math.sqrt(sum / all)));
    }

    /**
     * The length that so many percent of all do not exceed.
     *
     * @param percent from 0 to 100
     * @return the length; zero if there is none; not {@code null}
     * @throws IllegalArgumentException if {@code percent} is out of range
     */
    public Duration percentile(double percent) {
        if (!(percent >= 0 && percent <= 100)) {
            throw new IllegalArgumentException("a percentile is 0 to 100, not " + percent);
        }
        long wanted = Math.max(1, (long) (percent / 100 * count() + 0.5));
        long seen = 0;
        for (int i = 0; i < counts.length(); i++) {
            seen += counts.get(i);
            if (seen >= wanted) {
                return Duration.ofNanos(Math.min(highest(i), max.get()));
            }
        }
        return Duration.ZERO;
    }

    /** Forgets all lengths. */
    public void reset() {
        for (int i = 0; i < counts.length(); i++) {
            counts.set(i, 0);
        }
        exceeding.reset();
        min.reset();
        max.reset();
    }

    /**
     * This histogram in the format of HdrHistogram, version 2, not compressed: {@code
     * Histogram.decodeFromByteBuffer(ByteBuffer.wrap(bytes), 0)} reads it.
     *
     * @return the bytes, not {@code null}
     */
    public byte[] encode() {
        int end = counts.length();
        while (end > 0 && counts.get(end - 1) == 0) {
            end--;
        }
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + (end + 1) * MAX_COUNT_BYTES);
        bytes.position(HEADER_BYTES);
        for (int i = 0; i < end; ) {
            int zeros = zeros(i, end);
            putZigZag(bytes, zeros > 1 ? -zeros : counts.get(i));
            i += Math.max(1, zeros);
        }
        int length = bytes.position() - HEADER_BYTES;
        bytes.flip();
        bytes.putInt(COOKIE).putInt(length).putInt(0).putInt(DIGITS);
        bytes.putLong(1).putLong(MAX_NANOS).putDouble(1);
        byte[] encoded = new byte[HEADER_BYTES + length];
        bytes.rewind().get(encoded);
        return encoded;
    }

    private int zeros(int begin, int end) {
        int i = begin;
        while (i < end && counts.get(i) == 0) {
            i++;
        }
        return i - begin;
    }

    /** Seven bits to a byte, the sign lowest; the ninth byte has eight. */
    private static void putZigZag(ByteBuffer bytes, long value) {
        long rest = value << 1 ^ value >> Long.SIZE - 1;
        for (int i = 1; i < MAX_COUNT_BYTES && rest >>> 7 != 0; i++) {
            bytes.put((byte) (rest | 0x80));
            rest >>>= 7;
        }
        bytes.put((byte) rest);
    }

    /**
     * Count, mean and some percentiles, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return String.format(
                "%d, mean %s, 50%% %s, 99%% %s, max %s",
                count(), Objects.toString(mean()), percentile(50), percentile(99), max());
    }
}
