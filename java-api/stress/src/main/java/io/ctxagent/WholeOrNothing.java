package io.ctxagent;

import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.Outcome;

/** What a read from another thread may show: for {@code @JCStressMeta}. */
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "no context")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "one context, whole")
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "met a change, and reports it")
@Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "parts of two contexts")
final class WholeOrNothing {
    private WholeOrNothing() {}
}
