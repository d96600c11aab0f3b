package io.ctxagent;

import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.block.Slab;
import io.ctxagent.internal.intern.Utf8;

/** Prepares the API before its first use. Called by the agent only. */
final class WarmUp {
    private WarmUp() {}

    /**
     * Called by a thread of the agent once the VM is up, so that the application's first call finds
     * all prepared. Binds no key, runs nothing of the application's, and leaves no block behind.
     */
    static void warmUp() {
        try {
            if (ContextSupport.isOn()) {
                ContextProviders.runIfNoneIsNamed();
                RecordingContextKey.loadClasses();
                Utf8.wellFormed("warmUp", Utf8.fitting("warmUp", BlockLayout.VALUE_LIMIT));
                openAndClose();
            }
        } catch (VirtualMachineError | LinkageError | RuntimeException notNow) {
            // The first call of the application does it.
        }
    }

    private static void openAndClose() {
        long key = CurrentThread.key();
        if (key == 0) {
            // Where the agent gives the keys (17) its own threads have none: they would count as
            // threads that found no block.
            return;
        }
        RecordingContext.snapshot().activateExactly().close();
        long block = Slab.find(key);
        if (block != Slab.NONE) {
            Slab.release(block);
        }
    }
}
