package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.CurrentThread;

/** A scope that somebody wants to know the time of. */
public final class TimedScope extends ScopeWatch {
    private static final long NOT_KNOWN = -1;

    private final long block;
    private final long owner;
    private final int serial;
    private final int slots;
    /** See {@link Frames}. */
    private final int outer;

    private final int outerRecorded;

    private final int samplesBefore;
    private final int recording = TimedScopes.recording();
    private final long startNanos;
    /** See {@link ScopeListener#closed}. */
    private final long allocatedBefore;

    private final long cpuBefore;
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
        mirrored = TimedScopes.mirrored(block, slots);
        ScopeListener all = TimedScopes.listener();
        long allocated = all == null ? NOT_KNOWN : all.allocatedBytes();
        // Last, so that the scope takes no longer because somebody observes it.
        long now = System.nanoTime();
        long cpu = allocated < 0 ? NOT_KNOWN : all.cpuNanos(now);
        allocatedBefore = allocated;
        cpuBefore = cpu;
        startNanos = cpu < 0 ? now : System.nanoTime();
    }

    /**
     * The current thread has opened a scope. Returns what is to be told of its end, {@code next} if
     * nobody wants to know. Never throws.
     */
    public static ScopeWatch opened(
            ScopeWatch next, long block, long owner, int serial, int slots) {
        return opened(CompilerRules.KEEP_CALL, next, block, owner, serial, slots);
    }

    /** A kept call (rule 5 of {@link CompilerRules}). */
    private static ScopeWatch opened(
            int callsLeft, ScopeWatch next, long block, long owner, int serial, int slots) {
        if (callsLeft > 0) {
            return opened(callsLeft - 1, next, block, owner, serial, slots);
        }
        if (block == Slab.NONE || slots == 0 || !ExtraWork.isTimed()) {
            return next;
        }
        try {
            return timed(next, block, owner, serial, slots);
        } catch (VirtualMachineError shortage) {
            return next;
        }
    }

    private static TimedScope timed(
            ScopeWatch next, long block, long owner, int serial, int slots) {
        int outer = Slab.frame(block);
        // First: if there is no memory for the rest, the scope around it does not find its own.
        Slab.putFrame(block, Frames.of(serial));
        int outerRecorded = Slab.recorded(block);
        Slab.putRecorded(block, 0);
        return new TimedScope(next, block, owner, serial, slots, outer, outerRecorded);
    }

    @Override
    protected void closed() {
        if (closed) {
            return;
        }
        closed = true;
        if (CurrentThread.key() != owner || CurrentBlock.forReading(owner) != block) {
            return;
        }
        long endNanos = System.nanoTime();
        int samples = Slab.samples(block) - samplesBefore;
        ScopeListener all = TimedScopes.listener();
        if (all != null) {
            all.closed(
                    owner, block, slots, samples, startNanos, endNanos, allocatedBefore, cpuBefore);
        }
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
