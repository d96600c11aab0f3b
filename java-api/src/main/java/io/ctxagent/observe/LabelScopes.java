package io.ctxagent.observe;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.block.ScopeListener;
import io.ctxagent.internal.observe.ObserverHub;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * A listener for scopes of the agent's own copy of the API, which it opens for labels: by types
 * that both copies know, as {@code Labels.observeScopes} says.
 */
final class LabelScopes implements LongSupplier, LongUnaryOperator, Consumer<long[]> {
    private final ScopeListener listener;

    LabelScopes(ScopeListener listener) {
        this.listener = listener;
    }

    @Override
    public long getAsLong() {
        return listener.allocatedBytes();
    }

    @Override
    public long applyAsLong(long nowNanos) {
        return listener.cpuNanos(nowNanos);
    }

    @Override
    public void accept(long[] scope) {
        if (Bridge.state() != Bridge.READY) {
            // This copy was not prepared, for want of memory: it cannot read the block.
            ObserverHub.drop(EntryType.CONTEXT.ordinal());
            return;
        }
        listener.closed(
                scope[0],
                scope[1],
                (int) scope[2],
                (int) scope[3],
                scope[4],
                scope[5],
                scope[6],
                scope[7]);
    }
}
