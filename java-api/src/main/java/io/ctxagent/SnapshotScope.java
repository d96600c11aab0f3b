package io.ctxagent;

import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.AttributeEntry;
import io.ctxagent.internal.propagation.ContextActivation;

/**
 * A scope that installs the attributes of a snapshot, on top of what is installed or in place of it.
 */
abstract class SnapshotScope extends Scope implements ContextActivation {
    /** {@code exactly}: attributes that the snapshot does not have are removed. */
    SnapshotScope(SnapshotContents s, boolean exactly, boolean filtering) {
        super(s.isOn, filtering, s.raw != null, AttributeEntry.MAX, entry(s, 0, exactly),
                entry(s, 1, exactly), entry(s, 2, exactly), entry(s, 3, exactly),
                entry(s, 4, exactly), entry(s, 5, exactly), entry(s, 6, exactly),
                entry(s, 7, exactly));
        if (s.raw != null && block != Slab.NONE) {
            setRawBytes(RawScope.open(block, serial, filtering, s.raw,
                    entry(s, 0, exactly), entry(s, 1, exactly), entry(s, 2, exactly),
                    entry(s, 3, exactly), entry(s, 4, exactly), entry(s, 5, exactly),
                    entry(s, 6, exactly), entry(s, 7, exactly)));
        }
    }

    private static long entry(SnapshotContents s, int slot, boolean exactly) {
        if (!s.isOn) {
            return 0;
        }
        int id = s.id(slot);
        return id != 0 || exactly ? AttributeEntry.of(slot, id) : AttributeEntry.ofNothing();
    }
}
