package io.ctxagent;

import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.SlotPlace;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.RawArea;
import io.ctxagent.internal.block.RawScope;
import io.ctxagent.internal.block.ScopeClose;
import io.ctxagent.internal.block.ScopeOpen;
import io.ctxagent.internal.block.Slab;

/** A scope that installs the attributes of a builder on top of what is installed. */
abstract class BuilderScope extends Scope {
    /**
     * Its slot as a {@link SlotPlace}, if it has one and saved no other; else the bits of its slots
     * as those of a place, and 0 in the lowest byte.
     */
    private int slots;

    /**
     * The id of its only raw value; 0 if there is none, or {@link #rawBytes} has those of several.
     */
    private int raw;

    BuilderScope(BuilderEntries b, boolean filtering) {
        super(b.hasEntries());
        if (block == Slab.NONE) {
            return;
        }
        long all = b.all();
        int places = (int) (all >>> Integer.SIZE);
        int size = b.size();
        boolean known = (int) all >= 0;
        // Only static methods where it is rare: this and the builder are not to escape.
        if (filtering || b.morePending != null || SlotPlace.count(all) != size) {
            RawScope.makeRoom(block);
            saveAll();
            rawBytes = RawScope.open(
                    block,
                    serial,
                    filtering,
                    size,
                    b.entry0,
                    b.entry1,
                    b.entry2,
                    b.entry3,
                    b.entry4,
                    b.entry5,
                    b.entry6,
                    b.entry7,
                    b.pending,
                    b.morePending);
            slots = places & ~0xff;
        } else if (known && size == 1) {
            slots = places;
            serial = Slab.nextSerial(block);
            word0 = Slab.word(block, slots);
            ScopeOpen.one(block, serial, slots, (int) all);
        } else {
            raw = known ? 0 : RawScope.write(block, b.pending);
            saveAll();
            slots = places & ~0xff;
            ScopeOpen.several(
                    block, serial, size, b.entry0, b.entry1, b.entry2, b.entry3, b.entry4, b.entry5,
                    b.entry6, b.entry7, raw);
        }
    }

    /** The slots that it set, a bit each; 0 if it does nothing. */
    final int slots() {
        return SlotPlace.bits(slots);
    }

    final void end() {
        if (block == Slab.NONE) {
            return;
        }
        boolean before = isClosed();
        boolean usual = CurrentThread.key() == owner && Slab.isUsual(block) && !EventFilter.inUse();
        if ((slots & 0xff) != 0) {
            if (usual && Slab.stamp(Slab.word(block, slots)) == serial) {
                Slab.publishWord(block, Slab.closed(serial), slots, word0);
            } else {
                ScopeClose.one(before, block, owner, serial, slots, word0);
            }
        } else if (usual && Slab.sequence(block) == Slab.opened(serial)) {
            // Nothing was published since: all slots have what they had then.
            ScopeClose.putAllBack(
                    block,
                    Slab.closed(serial),
                    rawBytes | RawArea.bytesOf(raw),
                    word0,
                    word1,
                    word2,
                    word3,
                    word4,
                    word5,
                    word6,
                    word7);
        } else {
            // No method of this object: where it is rare it would stay a call (rule 3).
            ScopeClose.several(
                    before,
                    block,
                    owner,
                    serial,
                    SlotPlace.bits(slots),
                    rawBytes | RawArea.bytesOf(raw),
                    word0,
                    word1,
                    word2,
                    word3,
                    word4,
                    word5,
                    word6,
                    word7);
        }
    }
}
