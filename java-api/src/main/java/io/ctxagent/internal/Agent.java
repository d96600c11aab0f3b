package io.ctxagent.internal;

import java.nio.ByteBuffer;

/** What the Java side asks of the agent, off the hot path. The one real implementation is {@link NativeAgent}. */
public interface Agent {
    /** Version of the contract that the agent speaks. */
    int abi();

    /** Tells the agent that this API needs contract {@code wanted}, which is not its own: it says so where people look. */
    default void refused(int wanted) {
    }

    /** The numbers of {@link Layout}. */
    long[] layout();

    /** The slab of context blocks, or {@code null} if contexts are off. */
    ByteBuffer slab();

    /** Slot 0..7 of an attribute name, or -1 if no slot is left. The same name has the same slot for ever. */
    int bindKey(String name);

    /** Slots of these names, or {@code null}, with no slot taken, if they do not all fit. */
    int[] bindKeys(String[] names);

    /** What people read about the attribute in a slot; empty texts for what is not said. */
    void describeAttribute(int slot, String label, String description, String contextType);

    /** Event types, one bit each as in the event mask of a block, that threads without a context may be recorded with. */
    void filterWithoutContext(int mask);

    /** Id of a value, or 0 if the dictionary is full. */
    int intern(int slot, String value);

    /** Key of the current thread's block where thread ids do not serve, 0 if it has none. */
    long currentThreadKey();

    /**
     * Whether a signal handler would take the current virtual thread for what it is. Asked on virtual threads until it was
     * answered with yes; a no means: no context for this one.
     */
    boolean verifyVirtual(long threadId);

    /**
     * Makes {@code io.ctxagent.direct.DirectMemory} usable for the module, so that the hot path can access the slab without a check of bounds
     * that it does not need. Returns whether it is so now.
     */
    boolean openMemory(Module module);

    /** Adds one to a counter of {@link Misuse}. */
    void count(int event);

    /** Runs a command in the grammar of the agent's options. */
    String execute(String options);
}
