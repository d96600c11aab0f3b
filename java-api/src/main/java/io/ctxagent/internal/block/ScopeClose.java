package io.ctxagent.internal.block;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CompilerRules;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Misuse;

/**
 * The end of a scope; that of one slot in the usual case is in {@code Scope}. Takes the scope's
 * fields and never the scope, see rule 3 of {@link io.ctxagent.internal.agent.CompilerRules}.
 *
 * <p>{@code closed}: the scope was closed before. The owner sees that of its own closes, and of
 * those by others that it carried out; another thread may not see it. {@code rawBytes}: those of
 * the raw area that the scope took.
 */
public final class ScopeClose {
    private ScopeClose() {
    }

    /**
     * Whether the scope with this serial has its slots, which lie at the first {@code count} of
     * eight places. Whole words are loaded: that is what was stored last.
     */
    public static boolean haveStamp(long block, int serial, int count, long places) {
        long stamp = (long) serial << Integer.SIZE;
        long other = Slab.word(block, places & 0xff) ^ stamp;
        if (count > 1) {
            other |= Slab.word(block, places >>> 8 & 0xff) ^ stamp;
        }
        if (count > 2) {
            other |= Slab.word(block, places >>> 16 & 0xff) ^ stamp;
        }
        if (count > 3) {
            other |= Slab.word(block, places >>> 24 & 0xff) ^ stamp;
        }
        if (count > 4) {
            other |= others(CompilerRules.KEEP_CALL, block, stamp, count, places);
        }
        return Slab.stamp(other) == 0;
    }

    /** The same from the fifth on, which are rare: so it stays a call (rule 5). */
    private static long others(int callsLeft, long block, long stamp, int count, long places) {
        if (callsLeft > 0) {
            return others(callsLeft - 1, block, stamp, count, places);
        }
        long other = Slab.word(block, places >>> 32 & 0xff) ^ stamp;
        if (count > 5) {
            other |= Slab.word(block, places >>> 40 & 0xff) ^ stamp;
        }
        if (count > 6) {
            other |= Slab.word(block, places >>> 48 & 0xff) ^ stamp;
        }
        if (count > 7) {
            other |= Slab.word(block, places >>> 56) ^ stamp;
        }
        return other;
    }

    /** Publishes words at the first {@code count} of eight places. */
    public static void putBack(long block, int number, int count, long places, long w0, long w1,
            long w2, long w3, long w4, long w5, long w6, long w7) {
        Slab.begin(block, number);
        Slab.putWord(block, places & 0xff, w0);
        Slab.putWord(block, places >>> 8 & 0xff, w1);
        if (count > 2) {
            Slab.putWord(block, places >>> 16 & 0xff, w2);
        }
        if (count > 3) {
            Slab.putWord(block, places >>> 24 & 0xff, w3);
        }
        if (count > 4) {
            putMoreBack(CompilerRules.KEEP_CALL, block, count, places, w4, w5, w6, w7);
        }
        Slab.end(block, number);
    }

    /** Writes the words from the fifth on, as {@link #others}. */
    private static void putMoreBack(int callsLeft, long block, int count, long places, long w4,
            long w5, long w6, long w7) {
        if (callsLeft > 0) {
            putMoreBack(callsLeft - 1, block, count, places, w4, w5, w6, w7);
            return;
        }
        Slab.putWord(block, places >>> 32 & 0xff, w4);
        if (count > 5) {
            Slab.putWord(block, places >>> 40 & 0xff, w5);
        }
        if (count > 6) {
            Slab.putWord(block, places >>> 48 & 0xff, w6);
        }
        if (count > 7) {
            Slab.putWord(block, places >>> 56, w7);
        }
    }

    /** Publishes words in all slots. */
    public static void putAllBack(long block, int number, long w0, long w1, long w2, long w3,
            long w4, long w5, long w6, long w7) {
        Slab.begin(block, number);
        Slab.putWordIn(block, 0, w0);
        Slab.putWordIn(block, 1, w1);
        Slab.putWordIn(block, 2, w2);
        Slab.putWordIn(block, 3, w3);
        Slab.putWordIn(block, 4, w4);
        Slab.putWordIn(block, 5, w5);
        Slab.putWordIn(block, 6, w6);
        Slab.putWordIn(block, 7, w7);
        Slab.end(block, number);
    }

    /** Ends a scope of one slot. */
    public static void one(boolean closed, long block, long owner, int serial, int place,
            long rawBytes, long word) {
        one(CompilerRules.KEEP_CALL, closed, block, owner, serial, place, rawBytes, word);
    }

    private static void one(int callsLeft, boolean closed, long block, long owner, int serial,
            int place, long rawBytes, long word) {
        if (callsLeft > 0) {
            one(callsLeft - 1, closed, block, owner, serial, place, rawBytes, word);
        } else if (!closed && isSimple(block, owner)
                && Slab.stamp(Slab.word(block, place)) == serial) {
            boolean filtering = EventFilter.inUse();
            int number = Slab.closed(serial);
            Slab.begin(block, number);
            Slab.putWord(block, place, word);
            finish(block, number, rawBytes, filtering);
            BlockContents.releaseIfEmpty(block);
        } else {
            int slot = slot(place);
            long[] saved = new long[BlockLayout.SLOTS];
            saved[slot] = word;
            close(closed, block, owner, serial, 1 << slot, rawBytes, saved);
        }
    }

    /** Ends a scope of several slots, which lie at the first {@code count} of eight places. */
    public static void several(boolean closed, long block, long owner, int serial, int count,
            long places, long rawBytes, long w0, long w1, long w2, long w3, long w4, long w5,
            long w6, long w7) {
        several(CompilerRules.KEEP_CALL, closed, block, owner, serial, count, places, rawBytes, w0,
                w1, w2, w3, w4, w5, w6, w7);
    }

    private static void several(int callsLeft, boolean closed, long block, long owner, int serial,
            int count, long places, long rawBytes, long w0, long w1, long w2, long w3, long w4,
            long w5, long w6, long w7) {
        if (callsLeft > 0) {
            several(callsLeft - 1, closed, block, owner, serial, count, places, rawBytes, w0, w1,
                    w2, w3, w4, w5, w6, w7);
            return;
        }
        int named = 0;
        for (int i = 0; i < count; i++) {
            named |= 1 << slot(ScopeOpen.place(places, i));
        }
        inOrder(closed, block, owner, serial, named, rawBytes,
                of(0, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(1, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(2, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(3, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(4, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(5, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(6, count, places, w0, w1, w2, w3, w4, w5, w6, w7),
                of(7, count, places, w0, w1, w2, w3, w4, w5, w6, w7));
    }

    /** Of words in the order of places, that of a slot. */
    private static long of(int slot, int count, long places, long w0, long w1, long w2, long w3,
            long w4, long w5, long w6, long w7) {
        for (int i = 0; i < count; i++) {
            if (slot(ScopeOpen.place(places, i)) == slot) {
                return i == 0 ? w0 : i == 1 ? w1 : i == 2 ? w2 : i == 3 ? w3 : i == 4 ? w4
                        : i == 5 ? w5 : i == 6 ? w6 : w7;
            }
        }
        return 0;
    }

    private static int slot(int place) {
        return (place - BlockLayout.IDS) / Long.BYTES;
    }

    /**
     * Ends a scope of these slots, with the words in their order. Such a large method stays a call.
     */
    public static void inOrder(boolean closed, long block, long owner, int serial, int named,
            long rawBytes, long w0, long w1, long w2, long w3, long w4, long w5, long w6,
            long w7) {
        int left = named;
        // What is not left is done; the bytes of raw values are freed for all slots at once.
        if (!closed && left != 0 && isSimple(block, owner)
                && (rawBytes == 0 || haveStamp(block, named, serial))) {
            boolean filtering = EventFilter.inUse();
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
            if (rawBytes != 0 || filtering) {
                finish(block, number, rawBytes, filtering);
            } else {
                Slab.end(block, number);
            }
            BlockContents.releaseIfEmpty(block);
        }
        if (left != 0) {
            close(closed, block, owner, serial, left, rawBytes,
                    new long[] {w0, w1, w2, w3, w4, w5, w6, w7});
        }
    }

    /** Whether the owner ends the scope, and no other thread closed one of its scopes. */
    private static boolean isSimple(long block, long owner) {
        return CurrentThread.key() == owner && Slab.owner(block) == owner
                && !Slab.hasForeignClose(block);
    }

    private static void close(boolean closed, long block, long owner, int serial, int named,
            long rawBytes, long[] saved) {
        if (CurrentThread.key() != owner) {
            Bridge.count(closed ? Misuse.DOUBLE_CLOSE : Misuse.CLOSE_ON_OTHER_THREAD);
            if (!closed && Slab.owner(block) == owner) {
                ForeignCloses.add(
                        new ForeignClose(owner, block, serial, named, rawBytes, saved));
            }
            return;
        }
        if (Slab.owner(block) == owner) {
            if (Slab.hasForeignClose(block)) {
                ForeignCloses.carryOut(block, owner);
            }
            if (haveStamp(block, named, serial)) {
                putBack(block, Slab.closed(serial), named, rawBytes, saved);
            } else if (!closed || hasAny(block, named, serial)) {
                end(block, serial, named, rawBytes, saved, !closed);
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

    /**
     * Ends a scope slot by slot: of each it has the value, or a later scope has, or nobody. {@code
     * own}: it is known to be open until now.
     */
    static void end(long block, int serial, int named, long rawBytes, long[] saved, boolean own) {
        boolean outOfOrder = false;
        long freed = 0;
        long onTop = 0;
        long[] w = saved.clone();
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            long now = Slab.wordIn(block, slot);
            outOfOrder |= CoveredScopes.isCovered(now, serial);
            onTop |= Slab.stamp(now) == serial ? RawArea.bytesOf((int) now) : 0;
            freed |= own && Slab.stamp(now) == 0
                    ? CoveredScopes.bytesOfPut(saved[slot]) & ~RawArea.bytesOf((int) now) : 0;
            w[slot] = CoveredScopes.after(block, slot, serial, saved[slot], own);
        }
        // The bytes of a covered value stay until the later scope closes: it may show them, too.
        // Those of a scope that may have ended before may be another's by now.
        long later = own && outOfOrder ? rawBytes & ~onTop : 0;
        freed |= (own ? rawBytes & ~later : rawBytes & onTop)
                | CoveredScopes.freed(block, serial, later);
        if (outOfOrder) {
            Bridge.count(Misuse.CLOSE_OUT_OF_ORDER);
        }
        putBack(block, Slab.fresh(block), named, freed, w);
    }

    private static void putBack(long block, int number, int named, long freed, long[] words) {
        boolean filtering = EventFilter.inUse();
        Slab.begin(block, number);
        for (int rest = named; rest != 0; rest &= rest - 1) {
            int slot = Integer.numberOfTrailingZeros(rest);
            Slab.putWordIn(block, slot, words[slot]);
        }
        finish(block, number, freed, filtering);
    }

    /** Frees bytes of the raw area and ends the sequence. */
    private static void finish(long block, int number, long freed, boolean filtering) {
        if (Slab.rawUsed(block) != 0) {
            Slab.putRawUsed(block, Slab.rawUsed(block) & ~freed);
            if (!Slab.hasScope(block)) {
                RawArea.compact(block);
            }
        }
        if (filtering) {
            Slab.putEventMask(block, EventFilter.mask(block));
        }
        Slab.end(block, number);
    }
}
