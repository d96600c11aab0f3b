package io.ctxagent.observe;

import io.ctxagent.internal.block.ScopeListener;
import io.ctxagent.internal.block.TimedScopes;
import io.ctxagent.internal.observe.EntrySource;
import io.ctxagent.internal.observe.LabelConnection;
import io.ctxagent.internal.observe.ObserverHub;
import java.util.function.LongSupplier;

/** Scopes that close, while somebody observes them. */
final class ContextEntries implements EntrySource, ScopeListener {
    private static final int TYPE = EntryType.CONTEXT.ordinal();
    private static final long NOT_KNOWN = -1;

    private final LabelConnection labels =
            new LabelConnection("observeScopes", LongSupplier.class, new LabelScopes(this));

    @Override
    public void turn(boolean on) {
        if (on) {
            // Loads the beans here: the first scope is not to wait for them.
            allocatedBytes();
            cpuNanos(System.nanoTime());
        }
        TimedScopes.observe(on ? this : null);
        labels.turn(on);
    }

    @Override
    public void poll() {
        labels.poll();
    }

    @Override
    public long allocatedBytes() {
        return AllocatedBytes.now();
    }

    @Override
    public long cpuNanos(long nowNanos) {
        return ScopeCosts.pays(nowNanos) ? ThreadCounters.cpuNanos() : NOT_KNOWN;
    }

    @Override
    public void closed(
            long thread,
            long block,
            int slots,
            int samples,
            long startNanos,
            long endNanos,
            long allocatedBefore,
            long cpuBefore) {
        ObserverHub.publishScope(
                TYPE,
                thread,
                block,
                slots,
                samples,
                startNanos,
                endNanos - startNanos,
                allocatedBefore < 0 ? NOT_KNOWN : AllocatedBytes.now() - allocatedBefore,
                cpuBefore < 0 ? NOT_KNOWN : ThreadCounters.cpuNanos() - cpuBefore);
    }
}
