package io.ctxagent.observe;

import io.ctxagent.internal.block.ContextCopy;
import io.ctxagent.internal.block.ScopeListener;
import io.ctxagent.internal.block.TimedScopes;
import io.ctxagent.internal.intern.AttributeTexts;
import io.ctxagent.internal.observe.EntrySource;
import io.ctxagent.internal.observe.ObservedEntry;
import io.ctxagent.internal.observe.ObserverHub;

/** Scopes that close, while somebody observes them. */
final class ContextEntries implements EntrySource, ScopeListener {
    private static final int TYPE = EntryType.CONTEXT.ordinal();

    @Override
    public void turn(boolean on) {
        if (on) {
            // Loads the beans here: the first scope is not to wait for them.
            opened(System.nanoTime());
        }
        TimedScopes.observe(on ? this : null);
    }

    @Override
    public Object opened(long startNanos) {
        return ScopeCosts.begin(startNanos);
    }

    @Override
    public void closed(
            long block, int slots, int samples, long startNanos, long endNanos, Object opened) {
        ScopeCosts costs = (ScopeCosts) opened;
        long allocated = costs == null ? -1 : costs.allocatedBytes();
        long cpu = costs == null ? -1 : costs.cpuNanos();
        long length = endNanos - startNanos;
        ObserverHub.publish(new ObservedEntry(
                TYPE,
                AttributeTexts.name(Integer.numberOfTrailingZeros(slots)),
                startNanos,
                length,
                new ContextDetail(samples, allocated, cpu, length),
                new ContextCopy(block)));
    }
}
