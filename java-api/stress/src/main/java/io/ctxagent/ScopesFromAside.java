package io.ctxagent;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Nested scopes of two attributes, and a reader on another thread. */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "no context")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "one context, whole")
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "met a change, and says so")
@Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "parts of two contexts")
@State
public class ScopesFromAside {
    /** Opens and closes real scopes. */
    @Actor
    public void writer() {
        try (RecordingContext left = RecordingContext.where(Aside.A, Aside.LEFT).where(Aside.B, Aside.LEFT).build()) {
            Aside.here();
            RecordingContext.where(Aside.A, Aside.RIGHT).where(Aside.B, Aside.RIGHT).build().close();
        }
    }

    /** Looks from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = Aside.look(Aside.block());
    }
}
