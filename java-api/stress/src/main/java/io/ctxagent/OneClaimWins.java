package io.ctxagent;

import io.ctxagent.internal.block.Slab;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** Two threads want one free block: one gets it, and its owner word says which. */
@JCStressTest
@Outcome(
        id = {"true, false, true", "false, true, true"},
        expect = Expect.ACCEPTABLE,
        desc = "one of them, and it says so")
@Outcome(
        id = "false, false, true",
        expect = Expect.ACCEPTABLE_INTERESTING,
        desc = "the slab has fewer blocks than there are states: another state has it")
@Outcome(expect = Expect.FORBIDDEN, desc = "both, or the wrong one")
@State
public class OneClaimWins {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final long block = Slab.preferred(NEXT.getAndIncrement());
    private boolean first;
    private boolean second;

    /** One thread. */
    @Actor
    public void one(ZZZ_Result r) {
        first = Slab.claim(block, RemoteReader.FIRST, false);
        r.r1 = first;
    }

    /** The other. */
    @Actor
    public void two(ZZZ_Result r) {
        second = Slab.claim(block, RemoteReader.SECOND, false);
        r.r2 = second;
    }

    /** Afterwards. */
    @Arbiter
    public void after(ZZZ_Result r) {
        long owner = Slab.owner(block);
        r.r3 = first == second || owner == (first ? RemoteReader.FIRST : RemoteReader.SECOND);
        if (first || second) {
            Slab.release(block);
        }
    }
}
