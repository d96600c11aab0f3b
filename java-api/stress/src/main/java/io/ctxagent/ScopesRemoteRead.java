package io.ctxagent;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Nested scopes of two attributes, and a reader on another thread. */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class ScopesRemoteRead {
    /** Opens and closes real scopes. */
    @Actor
    public void writer() {
        RemoteReader.writeNested();
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.read(RemoteReader.block());
    }
}
