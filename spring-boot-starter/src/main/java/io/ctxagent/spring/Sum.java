package io.ctxagent.spring;

/** Samples, and the sampling intervals that they stand for. */
final class Sum {
    private long samples;
    private long weight;

    void add(long moreSamples, long moreWeight) {
        samples += moreSamples;
        weight += moreWeight;
    }

    void add(Sum other) {
        add(other.samples, other.weight);
    }

    long samples() {
        return samples;
    }

    long weight() {
        return weight;
    }
}
