package io.ctxagent;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Scopes with a raw value, one after the other in the same bytes, and a reader on another thread.
 */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class RawValuesRemoteRead {
    /** Opens and closes real scopes. */
    @Actor
    public void writer() {
        RemoteReader.writeRaw();
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.readRaw(RemoteReader.block(), true);
    }
}
