package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.SlotPlace;
import io.ctxagent.internal.block.ContextCopy;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.labels.Labels;
import java.util.Map;

/**
 * The scope of a request on the thread that runs it. If its operation becomes known better later,
 * the agent is told since when the one before was there, so that earlier samples get the better
 * one, too; but only if the thread was sampled meanwhile.
 */
final class Request implements AutoCloseable {
    private final ThreadLocal<Request> current;
    private final Request outer;
    private final RecordingContext scope;
    private final long beginNanos;
    private final int samplesBefore;
    /** Of the block that the thread has with the scope. */
    private final int samplesWithin;

    /** {@code current} holds the request of each thread. */
    Request(ThreadLocal<Request> current, RecordingContextKey operation, String value) {
        this.current = current;
        outer = current.get();
        // Before the scope is there: none of its samples is to be missed.
        beginNanos = System.nanoTime();
        samplesBefore = ContextSupport.isOn() ? CurrentBlock.samples() : 0;
        scope = RecordingContext.where(operation, value).build();
        samplesWithin = ContextSupport.isOn() ? CurrentBlock.samples() : 0;
        current.set(this);
    }

    /** The slot at {@code place} has a better value now; it had the one with the id before. */
    void isKnownBetter(int place, int before) {
        if (CurrentBlock.samples() != samplesBefore) {
            Labels.late(SlotPlace.slot(place), before, beginNanos);
        }
    }

    /** See {@link Labels#observe}; {@code null} if this request is within another one. */
    Object[] report(String operation, int status) {
        long endNanos = System.nanoTime();
        if (outer != null || !ContextSupport.isOn()) {
            return null;
        }
        long block = CurrentBlock.forReading(CurrentThread.key());
        Map<String, String> attributes =
                block == Slab.NONE ? Map.of() : new ContextCopy(block).get();
        int samples = block == Slab.NONE ? 0 : Slab.samples(block) - samplesWithin;
        return new Object[] {
            attributes.get(operation), beginNanos, endNanos, status, attributes, samples
        };
    }

    @Override
    public void close() {
        if (outer == null) {
            current.remove();
        } else {
            current.set(outer);
        }
        scope.close();
    }
}
