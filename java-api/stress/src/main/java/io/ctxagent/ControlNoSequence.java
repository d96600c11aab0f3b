package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.Slab;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Control, must fail: a writer that does not say that it writes. */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class ControlNoSequence {
    private static final long BLOCK = Slab.preferred(BlockLayout.BLOCKS / 2);

    /** Writes both ids. */
    @Actor
    public void writer() {
        Slab.putId(BLOCK, RemoteReader.SLOT_A, RemoteReader.LEFT_ID);
        Slab.putId(BLOCK, RemoteReader.SLOT_B, RemoteReader.LEFT_ID);
        VarHandle.storeStoreFence();
        Slab.putId(BLOCK, RemoteReader.SLOT_A, RemoteReader.RIGHT_ID);
        Slab.putId(BLOCK, RemoteReader.SLOT_B, RemoteReader.RIGHT_ID);
        VarHandle.storeStoreFence();
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.read(BLOCK);
    }
}
