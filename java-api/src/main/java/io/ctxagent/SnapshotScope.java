package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.ScopeClose;
import io.ctxagent.internal.block.ScopeOpen;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.propagation.ContextActivation;

/**
 * A scope that installs the attributes of a snapshot, on top of what is installed or in place of
 * it. All eight slots are written in one pass: those that are not its own get what they have.
 */
abstract class SnapshotScope extends Scope implements ContextActivation {
    /** The slots that it has, a bit each. */
    private int named;

    /** {@code exactly}: attributes that the snapshot does not have are removed. */
    SnapshotScope(SnapshotContents s, boolean exactly, boolean filtering) {
        super(s.isOn);
        if (block == Slab.NONE) {
            return;
        }
        if (s.raw != null) {
            RawScope.makeRoom(block);
        }
        saveAll();
        // Nothing is to be done about slots that are empty and stay so.
        named = exactly
                        && (s.named | word0 | word1 | word2 | word3 | word4 | word5 | word6 | word7)
                                != 0
                ? ScopeOpen.ALL
                : s.named;
        if (named == 0) {
            return;
        }
        if (s.raw != null) {
            long used = Slab.rawUsed(block);
            RawScope.openSnapshot(
                    block, serial, filtering, named, s.raw, s.ids0, s.ids1, s.ids2, s.ids3);
            rawBytes = Slab.rawUsed(block) & ~used;
        } else if (named == ScopeOpen.ALL) {
            ScopeOpen.snapshot(block, serial, filtering, s.ids0, s.ids1, s.ids2, s.ids3);
        } else {
            ScopeOpen.snapshot(block, serial, filtering, named, s.ids0, s.ids1, s.ids2, s.ids3);
        }
    }

    /** The slots that it set, a bit each; 0 if it does nothing. */
    final int slots() {
        return named;
    }

    final void end() {
        if (block == Slab.NONE || named == 0) {
            return;
        }
        boolean before = isClosed();
        // If nothing was published since, all slots have what they had then.
        if (CurrentThread.key() == owner
                && Slab.isUsual(block)
                && Slab.sequence(block) == Slab.opened(serial)
                && !EventFilter.inUse()) {
            ScopeClose.putAllBack(
                    block,
                    Slab.closed(serial),
                    rawBytes,
                    word0,
                    word1,
                    word2,
                    word3,
                    word4,
                    word5,
                    word6,
                    word7);
        } else {
            ScopeClose.several(
                    before, block, owner, serial, named, rawBytes, word0, word1, word2, word3,
                    word4, word5, word6, word7);
        }
    }
}
