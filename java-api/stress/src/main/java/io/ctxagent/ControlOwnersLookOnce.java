package io.ctxagent;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Control, must fail: a reader that does not ask whether the owner is still the same. */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "no context")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "one context, whole")
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "met a change, and says so")
@Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "parts of two contexts")
@State
public class ControlOwnersLookOnce {
    private static final long BLOCK = Slab.place(Slab.PLACES / 2, 0);

    /** Two owners, one after the other. */
    @Actor
    public void writer() {
        Aside.occupy(BLOCK, Aside.FIRST);
        Aside.occupy(BLOCK, Aside.SECOND);
    }

    /** Looks from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = Aside.lookAtOwner(BLOCK, false);
    }
}
