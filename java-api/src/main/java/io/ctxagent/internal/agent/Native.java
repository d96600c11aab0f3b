package io.ctxagent.internal.agent;

import java.nio.ByteBuffer;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The native methods of the agent library. The VM binds them by name if the library was loaded as
 * an agent; without it the first call throws {@link UnsatisfiedLinkError}.
 */
final class Native implements Agent {
    @Override
    public native int abi();

    @Override
    public native void refused(int wanted);

    @Override
    public native void failed(String why);

    @Override
    public native long[] layout();

    @Override
    public native ByteBuffer slab();

    @Override
    public native int bindKey(String name);

    @Override
    public native int[] bindKeys(String[] names);

    @Override
    public native void describeAttribute(
            int slot, String label, String description, String contextType);

    @Override
    public native void filterWithoutContext(int mask);

    @Override
    public native int intern(int slot, String value);

    @Override
    public native String attribute(int slot);

    @Override
    public native String value(int id);

    @Override
    public native long currentThreadKey();

    @Override
    public native boolean verifyVirtual(long threadId);

    @Override
    public native boolean openMemory(Module module);

    @Override
    public native boolean wantsTasks();

    @Override
    public native void carryTasks(BinaryOperator<Object> carrier);

    @Override
    public native long scopeThreshold();

    @Override
    public native int scopeClosed(long startNanos, long endNanos, int slots, int changed);

    @Override
    public native void observePauses(boolean more);

    @Override
    public native long[] takePauses();

    @Override
    public native boolean observeNetwork(
            int kind, Function<Object, Consumer<Object>> observer, boolean on);

    @Override
    public native boolean prepareLabels();

    @Override
    public native void mark(String name, long startNanos, long endNanos);

    @Override
    public native long sampleNanos();

    @Override
    public native long[] milestones();

    @Override
    public native void count(int event);

    @Override
    public native String execute(String options);
}
