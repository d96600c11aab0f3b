package io.ctxagent;

import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.Slab;

/** A scope that installs the attributes of a builder on top of what is installed. */
abstract class BuilderScope extends Scope {
    BuilderScope(BuilderEntries b, boolean filtering) {
        super(b.hasEntries(), filtering, b.isRare(), b.size(), b.entry0, b.entry1, b.entry2,
                b.entry3, b.entry4, b.entry5, b.entry6, b.entry7);
        if (b.isRare() && block != Slab.NONE) {
            setRawBytes(RawScope.open(block, serial, filtering, b.raw, b.rawEntry, b.extra,
                    b.size(), b.entry0, b.entry1, b.entry2, b.entry3, b.entry4, b.entry5, b.entry6,
                    b.entry7));
        }
    }
}
