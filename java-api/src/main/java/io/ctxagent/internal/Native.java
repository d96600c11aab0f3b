package io.ctxagent.internal;

import java.nio.ByteBuffer;

/**
 * The native methods of the agent library, contract 1 of {@code docs/architecture.md}. The VM binds them by name when
 * the library came in as an agent; without it the first call throws {@link UnsatisfiedLinkError}.
 */
final class Native {
    private Native() {
    }

    static native int abi();

    static native void refused(int wanted);

    static native long[] layout();

    static native ByteBuffer slab();

    static native int bindKey(String name);

    static native int[] bindKeys(String[] names);

    static native void describeAttribute(int slot, String label, String description, String contextType);

    static native void filterWithoutContext(int mask);

    static native int intern(int slot, String value);

    static native long currentThreadKey();

    static native boolean verifyVirtual(long threadId);

    static native boolean openMemory(Module module);

    static native void count(int event);

    static native String execute(String options);
}
