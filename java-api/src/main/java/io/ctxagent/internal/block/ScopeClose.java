package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.agent.SlotPlace;

/**
 * The end of a scope; the usual cases are in {@code BuilderScope} and {@code SnapshotScope}. Takes
 * the scope's fields and never the scope, see rule 3 of {@link
 * io.ctxagent.internal.agent.CompilerRules}.
 *
 * <p>{@code closed}: the scope was closed before. The owner sees that of its own closes, and of
 * those by others that it carried out; another thread may not see it. {@code rawBytes}: those of
 * the raw area that the scope took.
 */
public final class ScopeClose {
    private ScopeClose() {}

    /** Publishes words in all slots, and frees bytes of the raw area. */
    public static void putAllBack(
            long block,
            int number,
            long rawBytes,
            long w0,
            long w1,
            long w2,
            long w3,
            long w4,
            long w5,
            long w6,
            long w7) {
        Slab.begin(block, number);
        Slab.putWordIn(block, 0, w0);
        Slab.putWordIn(block, 1, w1);
        Slab.putWordIn(block, 2, w2);
        Slab.putWordIn(block, 3, w3);
        Slab.putWordIn(block, 4, w4);
        Slab.putWordIn(block, 5, w5);
        Slab.putWordIn(block, 6, w6);
        Slab.putWordIn(block, 7, w7);
        if (rawBytes != 0) {
            Slab.putRawUsed(block, Slab.rawUsed(block) & ~rawBytes);
        }
        Slab.end(block, number);
    }

    /** Ends a scope of one slot without a raw value. */
    public static void one(
            boolean closed, long block, long owner, int serial, int place, long word) {
        one(CompilerRules.KEEP_CALL, closed, block, owner, serial, place, word);
    }

    private static void one(
            int callsLeft,
            boolean closed,
            long block,
            long owner,
            int serial,
            int place,
            long word) {
        if (callsLeft > 0) {
            one(callsLeft - 1, closed, block, owner, serial, place, word);
        } else if (!closed
                && isSimple(block, owner)
                && Slab.stamp(Slab.word(block, place)) == serial) {
            boolean filtering = EventFilter.prepare();
            int number = Slab.closed(serial);
            Slab.begin(block, number);
            Slab.putWord(block, place, word);
            ScopeEnd.finish(block, number, 0, filtering);
            BlockContents.releaseIfEmpty(block);
        } else {
            int slot = SlotPlace.slot(place);
            long[] saved = new long[BlockLayout.SLOTS];
            saved[slot] = word;
            close(closed, block, owner, serial, 1 << slot, 0, saved);
        }
    }

    /** Ends a scope of these slots. Such a large method stays a call. */
    public static void several(
            boolean closed,
            long block,
            long owner,
            int serial,
            int named,
            long rawBytes,
            long w0,
            long w1,
            long w2,
            long w3,
            long w4,
            long w5,
            long w6,
            long w7) {
        if (!closed
                && isSimple(block, owner)
                && Slab.sequence(block) == Slab.opened(serial)
                && !EventFilter.inUse()) {
            // As in the usual case, in a block that is not kept.
            putAllBack(block, Slab.closed(serial), rawBytes, w0, w1, w2, w3, w4, w5, w6, w7);
            BlockContents.releaseIfEmpty(block);
            return;
        }
        int left = named;
        // What is not left is done; the bytes of raw values are freed for all slots at once.
        if (!closed
                && left != 0
                && isSimple(block, owner)
                && (rawBytes == 0 || haveStamp(block, named, serial))) {
            boolean filtering = EventFilter.prepare();
            int number = Slab.closed(serial);
            Slab.begin(block, number);
            if (Slab.stamp(Slab.wordIn(block, 0)) == serial) {
                Slab.putWordIn(block, 0, w0);
                left &= ~1;
            }
            if (Slab.stamp(Slab.wordIn(block, 1)) == serial) {
                Slab.putWordIn(block, 1, w1);
                left &= ~(1 << 1);
            }
            if (Slab.stamp(Slab.wordIn(block, 2)) == serial) {
                Slab.putWordIn(block, 2, w2);
                left &= ~(1 << 2);
            }
            if (Slab.stamp(Slab.wordIn(block, 3)) == serial) {
                Slab.putWordIn(block, 3, w3);
                left &= ~(1 << 3);
            }
            if (Slab.stamp(Slab.wordIn(block, 4)) == serial) {
                Slab.putWordIn(block, 4, w4);
                left &= ~(1 << 4);
            }
            if (Slab.stamp(Slab.wordIn(block, 5)) == serial) {
                Slab.putWordIn(block, 5, w5);
                left &= ~(1 << 5);
            }
            if (Slab.stamp(Slab.wordIn(block, 6)) == serial) {
                Slab.putWordIn(block, 6, w6);
                left &= ~(1 << 6);
            }
            if (Slab.stamp(Slab.wordIn(block, 7)) == serial) {
                Slab.putWordIn(block, 7, w7);
                left &= ~(1 << 7);
            }
            ScopeEnd.finish(block, number, rawBytes, filtering);
            BlockContents.releaseIfEmpty(block);
        }
        if (left != 0) {
            close(closed, block, owner, serial, left, rawBytes, new long[] {
                w0, w1, w2, w3, w4, w5, w6, w7
            });
        }
    }

    /** Whether the owner ends the scope, and no other thread closed one of its scopes. */
    private static boolean isSimple(long block, long owner) {
        return CurrentThread.key() == owner
                && Slab.owner(block) == owner
                && !Slab.hasForeignClose(block);
    }

    private static void close(
            boolean closed,
            long block,
            long owner,
            int serial,
            int named,
            long rawBytes,
            long[] saved) {
        if (CurrentThread.key() != owner) {
            Bridge.count(closed ? Misuse.DOUBLE_CLOSE : Misuse.CLOSE_ON_OTHER_THREAD);
            if (!closed && Slab.owner(block) == owner) {
                ForeignCloses.add(new ForeignClose(owner, block, serial, named, rawBytes, saved));
            }
            return;
        }
        if (Slab.owner(block) == owner) {
            if (Slab.hasForeignClose(block)) {
                ForeignCloses.carryOut(block, owner);
            }
            if (haveStamp(block, named, serial)) {
                ScopeEnd.putBack(block, Slab.closed(serial), named, rawBytes, saved);
            } else if (!closed || hasAny(block, named, serial)) {
                ScopeEnd.end(block, serial, named, rawBytes, saved, !closed);
            }
            BlockContents.releaseIfEmpty(block);
        }
        if (closed) {
            Bridge.count(Misuse.DOUBLE_CLOSE);
        }
    }

    private static boolean haveStamp(long block, int named, int serial) {
        int other = 0;
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            other |= Slab.stamp(Slab.wordIn(block, slot)) ^ serial;
        }
        return other == 0;
    }

    /**
     * Whether the scope has the value in one of its slots: then it is open, even if another thread
     * is about to close it.
     */
    private static boolean hasAny(long block, int named, int serial) {
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            if (Slab.stamp(Slab.wordIn(block, slot) & ~Slab.COVERS_ENDED) == serial) {
                return true;
            }
        }
        return false;
    }
}
