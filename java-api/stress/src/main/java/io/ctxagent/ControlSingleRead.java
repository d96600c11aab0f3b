package io.ctxagent;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Control, must fail: a reader that does not check for changes in between. */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class ControlSingleRead {
    /** Opens and closes real scopes. */
    @Actor
    public void writer() {
        RemoteReader.writeNested();
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.readOnce(RemoteReader.block());
    }
}
