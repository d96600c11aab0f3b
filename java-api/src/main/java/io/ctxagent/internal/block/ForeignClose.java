package io.ctxagent.internal.block;

/** A scope that another thread closed, for its owner to end. */
final class ForeignClose {
    final long owner;
    final long block;
    private final int serial;
    private final int named;
    private final long rawBytes;
    private final long[] saved;
    /** Another one of the same owner, or {@code null}. */
    ForeignClose next;
    /** Others were dropped: all scopes of the owner are to end. */
    boolean endsAll;

    ForeignClose(long owner, long block, int serial, int named, long rawBytes, long[] saved) {
        this.owner = owner;
        this.block = block;
        this.serial = serial;
        this.named = named;
        this.rawBytes = rawBytes;
        this.saved = saved;
    }

    /** Ends the scope. Called by its owner. */
    void carryOut() {
        Frames.put(block, named);
        ScopeEnd.end(block, serial, named, rawBytes, saved, false);
    }
}
