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

    private final int outerRecorded;

    private final int samplesBefore;
    private final int recording = TimedScopes.recording();
    private final long startNanos = System.nanoTime();
    private final Object opened;
    /** {@code null} if only our own recording wants it. */
    private final ScopeMirror.Opened mirrored;

    private boolean closed;

    private TimedScope(
            ScopeWatch next,
            long block,
            long owner,
            int serial,
            int slots,
            int outer,
            int outerRecorded) {
        super(next);
        this.block = block;
        this.owner = owner;
        this.serial = serial;
        this.slots = slots;
        this.outer = outer;
        this.outerRecorded = outerRecorded;
        samplesBefore = Slab.samples(block);
        opened = TimedScopes.begin(startNanos);
        mirrored = TimedScopes.mirrored(block, slots);
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
        int outerRecorded = Slab.recorded(block);
        Slab.putRecorded(block, 0);
        return new TimedScope(next, block, owner, serial, slots, outer, outerRecorded);
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
        int recorded = Slab.recorded(block);
        int answer = TimedScopes.record(recording, startNanos, endNanos, slots, changed);
        boolean kept = TimedScopes.isKept(answer);
        Slab.putRecorded(block, Frames.recorded(outerRecorded, recorded, kept, slots));
        if (mirrored != null && TimedScopes.isShown(answer)) {
            mirrored.closed(block, Frames.unchanged(slots, changed, recorded));
        }
        if (inOrder) {
            Slab.putFrame(block, Frames.after(outer, frame, kept, slots));
        } else {
            Frames.put(block, slots);
        }
    }
}
