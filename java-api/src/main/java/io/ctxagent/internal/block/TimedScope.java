package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CurrentThread;

/** A scope that somebody wants to know the time of. */
public final class TimedScope extends ScopeWatch {
    private final long block;
    private final long owner;
    private final int serial;
    private final int slots;
    /** See {@link Frames}. */
    private final int outer;

    private final int samplesBefore;
    private final int recording = TimedScopes.recording();
    private final long startNanos = System.nanoTime();
    private final Object opened;
    private boolean closed;

    private TimedScope(ScopeWatch next, long block, long owner, int serial, int slots, int outer) {
        super(next);
        this.block = block;
        this.owner = owner;
        this.serial = serial;
        this.slots = slots;
        this.outer = outer;
        samplesBefore = Slab.samples(block);
        opened = TimedScopes.begin(startNanos);
    }

    /**
     * The current thread has opened a scope. Returns what is to be told of its end, {@code next} if
     * nobody wants to know.
     */
    public static ScopeWatch opened(
            ScopeWatch next, long block, long owner, int serial, int slots) {
        if (slots == 0 || !ExtraWork.isTimed()) {
            return next;
        }
        int outer = Slab.frame(block);
        // First: if there is no memory for the rest, the scope around it does not find its own.
        Slab.putFrame(block, Frames.of(serial));
        return new TimedScope(next, block, owner, serial, slots, outer);
    }

    @Override
    public void closed() {
        if (closed) {
            return;
        }
        closed = true;
        if (CurrentThread.key() != owner || CurrentBlock.forReading(owner) != block) {
            return;
        }
        long endNanos = System.nanoTime();
        int samples = Slab.samples(block) - samplesBefore;
        TimedScopes.tell(block, slots, samples, startNanos, endNanos, opened);
        int frame = Slab.frame(block);
        boolean inOrder = Frames.isOf(frame, serial);
        int changed = inOrder ? Frames.changed(frame) : Frames.ALL;
        boolean kept = TimedScopes.record(recording, startNanos, endNanos, slots, changed);
        if (inOrder) {
            Slab.putFrame(block, Frames.after(outer, frame, kept, slots));
        } else {
            Frames.put(block, slots);
        }
    }
}
