package io.ctxagent;

import io.ctxagent.internal.block.ScopeListener;
import io.ctxagent.labels.Labels;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/** Reports scopes of sources to other copies of the API, see {@link Labels#observeScopes}. */
final class ScopeReporter implements ScopeListener {
    /** At least one. What the VM counts for a thread, the first tells for all. */
    private final LongSupplier[] observers;

    ScopeReporter(LongSupplier[] observers) {
        this.observers = observers;
    }

    @Override
    public long allocatedBytes() {
        return observers[0].getAsLong();
    }

    @Override
    public long cpuNanos(long nowNanos) {
        return ((LongUnaryOperator) observers[0]).applyAsLong(nowNanos);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void closed(
            long thread,
            long block,
            int slots,
            int samples,
            long startNanos,
            long endNanos,
            long allocatedBefore,
            long cpuBefore) {
        long[] scope = {
            thread, block, slots, samples, startNanos, endNanos, allocatedBefore, cpuBefore
        };
        for (LongSupplier observer : observers) {
            ((Consumer<long[]>) observer).accept(scope);
        }
    }
}
