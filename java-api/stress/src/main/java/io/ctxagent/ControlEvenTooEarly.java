package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.block.Slab;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Control, must fail: a writer whose sequence is even again before it has written. */
@JCStressTest
@JCStressMeta(WholeOrNothing.class)
@State
public class ControlEvenTooEarly {
    private static final long BLOCK = Slab.preferred(BlockLayout.BLOCKS / 2);

    /** Publishes, then writes. */
    @Actor
    public void writer() {
        for (int id : new int[] {RemoteReader.LEFT_ID, RemoteReader.RIGHT_ID}) {
            int number = Slab.fresh(BLOCK);
            Slab.begin(BLOCK, number);
            Slab.end(BLOCK, number);
            Slab.putId(BLOCK, RemoteReader.SLOT_A, id);
            VarHandle.storeStoreFence();
            Slab.putId(BLOCK, RemoteReader.SLOT_B, id);
        }
    }

    /** Reads from another thread. */
    @Actor
    public void reader(I_Result r) {
        r.r1 = RemoteReader.read(BLOCK);
    }
}
