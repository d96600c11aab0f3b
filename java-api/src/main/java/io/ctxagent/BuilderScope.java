package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.ScopeClose;
import io.ctxagent.internal.block.ScopeOpen;
import io.ctxagent.internal.block.Slab;

/** A scope that installs the attributes of a builder on top of what is installed. */
abstract class BuilderScope extends Scope {
    /** How many slots it has; then where they lie in the block, a byte each. */
    private int count;
    private long places;

    BuilderScope(BuilderEntries b, boolean filtering) {
        super(b.hasEntries());
        if (block == Slab.NONE) {
            return;
        }
        count = b.size();
        places = b.places();
        // Only static methods where it is rare: this and the builder are not to escape.
        boolean known = b.isKnown();
        if (!known) {
            RawScope.makeRoom(block);
        }
        save(b);
        if (!known) {
            rawBytes = RawScope.open(block, serial, filtering, count, b.entry0, b.entry1, b.entry2,
                    b.entry3, b.entry4, b.entry5, b.entry6, b.entry7, b.pending, b.morePending);
        } else if (count == 1) {
            ScopeOpen.one(block, serial, filtering, (int) places, (int) b.entry0);
        } else {
            ScopeOpen.several(block, serial, filtering, count, b.entry0, b.entry1, b.entry2,
                    b.entry3, b.entry4, b.entry5, b.entry6, b.entry7);
        }
    }

    private void save(BuilderEntries b) {
        serial = Slab.nextSerial(block);
        // Those beyond the count, too, being 0: without a question for each.
        word0 = Slab.wordOf(block, b.entry0);
        word1 = Slab.wordOf(block, b.entry1);
        word2 = Slab.wordOf(block, b.entry2);
        word3 = Slab.wordOf(block, b.entry3);
        word4 = Slab.wordOf(block, b.entry4);
        word5 = Slab.wordOf(block, b.entry5);
        word6 = Slab.wordOf(block, b.entry6);
        word7 = Slab.wordOf(block, b.entry7);
    }

    final void end() {
        if (block == Slab.NONE) {
            return;
        }
        boolean before = isClosed();
        if (CurrentThread.key() == owner && Slab.isUsual(block) && rawBytes == 0
                && ScopeClose.haveStamp(block, serial, count, places) && !EventFilter.inUse()) {
            int number = Slab.closed(serial);
            if (count == 1) {
                Slab.publishWord(block, number, places, word0);
            } else {
                ScopeClose.putBack(block, number, count, places, word0, word1, word2, word3, word4,
                        word5, word6, word7);
            }
        } else if (count == 1) {
            ScopeClose.one(before, block, owner, serial, (int) places, rawBytes, word0);
        } else {
            ScopeClose.several(before, block, owner, serial, count, places, rawBytes, word0, word1,
                    word2, word3, word4, word5, word6, word7);
        }
    }
}
