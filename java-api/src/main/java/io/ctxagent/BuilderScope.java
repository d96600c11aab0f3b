package io.ctxagent;

import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.Slab;

/** A scope that installs the attributes of a builder on top of what is installed. */
abstract class BuilderScope extends Scope {
    /**
     * {@code filtering} is evaluated before the block is looked up: from there to the end of the
     * sequence nothing may block.
     */
    BuilderScope(BuilderEntries b, boolean filtering) {
        super(b.isOn());
        long at = block;
        if (at != Slab.NONE) {
            int raw = 0;
            int top = rawTop;
            if (b.raw != null) {
                raw = RawArea.write(at, top, b.raw);
                top += RawArea.length(raw);
            }
            if (b.extra != null) {
                top = b.extra.writeRaw(at, top);
            }
            int number = Slab.opened(serial);
            Slab.begin(at, number);
            Slab.putTop(at, serial);
            b.write(at);
            if (b.extra != null) {
                // First: of two values of one attribute, the one in there came later.
                b.extra.write(at);
            }
            if (b.raw != null) {
                RawArea.resolve(at, b.rawEntry, raw);
            }
            if (top != rawTop) {
                Slab.putRawTop(at, top);
            }
            if (filtering) {
                Slab.putEventMask(at, EventFilter.mask(at));
            }
            // Last, so that an interrupted opening is found by it.
            Slab.putNext(at, serial);
            Slab.end(at, number);
        }
    }
}
