package io.ctxagent;

import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.propagation.ContextActivation;

/** A scope that installs the contents of a snapshot in place of what is installed. */
abstract class SnapshotScope extends Scope implements ContextActivation {
    /**
     * {@code filtering} is evaluated before the block is looked up: from there to the end of the
     * sequence nothing may block.
     */
    SnapshotScope(SnapshotContents s, boolean filtering) {
        super(s.isOn);
        long at = block;
        if (at != Slab.NONE) {
            int lost = 0;
            int number = Slab.opened(serial);
            Slab.begin(at, number);
            Slab.putTop(at, serial);
            Slab.putIds(at, 0, s.ids0);
            Slab.putIds(at, 1, s.ids1);
            Slab.putIds(at, 2, s.ids2);
            Slab.putIds(at, 3, s.ids3);
            if (s.raw != null) {
                lost = RawArea.copyIn(at, rawTop, s.raw);
            }
            if (filtering) {
                Slab.putEventMask(at, EventFilter.mask(at));
            }
            // Last, as in every opening.
            Slab.putNext(at, serial);
            Slab.end(at, number);
            for (; lost > 0; lost--) {
                Bridge.count(Misuse.RAW_AREA_FULL);
            }
        }
    }
}
