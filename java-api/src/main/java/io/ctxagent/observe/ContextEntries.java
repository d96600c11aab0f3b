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

    /** Most scopes are not sampled. */
    private static final ContextDetail NOT_SAMPLED = new ContextDetail(0);

    @Override
    public void turn(boolean on) {
        TimedScopes.observe(on ? this : null);
    }

    @Override
    public void closed(long block, int slots, int samples, long startNanos, long endNanos) {
        ObserverHub.publish(new ObservedEntry(
                TYPE,
                AttributeTexts.name(Integer.numberOfTrailingZeros(slots)),
                startNanos,
                endNanos - startNanos,
                samples == 0 ? NOT_SAMPLED : new ContextDetail(samples),
                new ContextCopy(block)));
    }
}
