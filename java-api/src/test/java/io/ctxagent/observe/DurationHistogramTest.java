package io.ctxagent.observe;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.junit.Test;

public class DurationHistogramTest {
    private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();

    /** As HdrHistogram counts and reads, for lengths of all sizes. */
    @Test
    public void agreesWithHdrHistogram() {
        DurationHistogram ours = new DurationHistogram();
        Histogram theirs = new Histogram(1, HOUR_NANOS, 3);
        Random random = new Random(42);
        for (int i = 0; i < 100_000; i++) {
            long nanos = Math.min(HOUR_NANOS, random.nextLong() >>> 22 + random.nextInt(42));
            ours.record(nanos);
            theirs.recordValue(nanos);
        }
        for (long edge : new long[] {0, 1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, HOUR_NANOS}) {
            ours.record(edge);
            theirs.recordValue(edge);
        }
        Histogram decoded = Histogram.decodeFromByteBuffer(ByteBuffer.wrap(ours.encode()), 0);
        assertEquals(theirs, decoded);
        assertEquals(theirs.getTotalCount(), ours.count());
        assertEquals(theirs.getMean(), ours.mean().toNanos(), 1);
        assertEquals(theirs.getStdDeviation(), ours.stddev().toNanos(), 1);
        for (double percent : new double[] {0.1, 25, 50, 90, 99, 99.9}) {
            assertEquals(
                    Math.min(theirs.getValueAtPercentile(percent), HOUR_NANOS),
                    ours.percentile(percent).toNanos());
        }
        assertEquals(Duration.ZERO, ours.min());
        assertEquals(Duration.ofHours(1), ours.max());
        assertEquals("not of a bucket", ours.max(), ours.percentile(100));
    }

    @Test
    public void emptyOneIsAllZero() {
        DurationHistogram histogram = new DurationHistogram();
        for (int round = 0; round < 2; round++) {
            assertEquals(0, histogram.count());
            assertEquals(Duration.ZERO, histogram.min());
            assertEquals(Duration.ZERO, histogram.max());
            assertEquals(Duration.ZERO, histogram.mean());
            assertEquals(Duration.ZERO, histogram.stddev());
            assertEquals(Duration.ZERO, histogram.percentile(99));
            Histogram read = Histogram.decodeFromByteBuffer(ByteBuffer.wrap(histogram.encode()), 0);
            assertEquals(0, read.getTotalCount());
            histogram.record(5);
            histogram.record(Long.MAX_VALUE);
            assertEquals(1, histogram.exceeding());
            histogram.reset();
            assertEquals(0, histogram.exceeding());
        }
    }

    @Test
    public void lengthsBeyondItsRangeCountAtItsEnds() {
        DurationHistogram histogram = new DurationHistogram();
        histogram.record(-1);
        histogram.record(HOUR_NANOS + 1);
        histogram.record(Long.MIN_VALUE);
        assertEquals(3, histogram.count());
        assertEquals(1, histogram.exceeding());
        assertEquals(Duration.ZERO, histogram.percentile(50));
        assertEquals(Duration.ofHours(1), histogram.percentile(100));
        assertTrue(histogram.toString(), histogram.toString().startsWith("3, mean PT20M"));
        assertThrows(IllegalArgumentException.class, () -> histogram.percentile(101));
        assertThrows(IllegalArgumentException.class, () -> histogram.percentile(Double.NaN));
    }
}
