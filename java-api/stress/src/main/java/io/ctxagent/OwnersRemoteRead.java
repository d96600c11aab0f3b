package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.Slab;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A block that changes owners, and a reader on another thread. */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class OwnersRemoteRead {
    private static final long BLOCK = Slab.preferred(BlockLayout.BLOCKS / 2);

    /** Two owners, one after the other. */
    @Actor
    public void writer() {
        RemoteReader.occupy(BLOCK, RemoteReader.FIRST);
        RemoteReader.occupy(BLOCK, RemoteReader.SECOND);
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.readOwner(BLOCK, true);
    }
}
