package io.ctxagent.internal.agent;

import java.nio.ByteBuffer;

/**
 * What the Java API asks of the agent, off the hot path. {@link Native} is the agent library of
 * this VM; tests bring a double.
 */
public interface Agent {
    /** Version of the contract that the agent speaks; 0 while the agent is not up yet. */
    int abi();

    /** Reports that this API needs contract {@code wanted}, which is not the agent's. */
    void refused(int wanted);

    /** The numbers of {@link Layout}, or {@code null} if the heap is full. */
    long[] layout();

    /** The slab of context blocks, or {@code null} if the heap is full. */
    ByteBuffer slab();

    /**
     * Slot of an attribute name, or -1 if none is left. A name keeps its slot for the life of the
     * VM.
     */
    int bindKey(String name);

    /** Slots of these names, or {@code null}, with no slot taken, if they do not all fit. */
    int[] bindKeys(String[] names);

    /** Sets the texts that people read about the attribute in a slot; empty means none. */
    void describeAttribute(int slot, String label, String description, String contextType);

    /**
     * Sets the event types that threads without a context may be recorded with, one bit each as in
     * the event mask of a block.
     */
    void filterWithoutContext(int mask);

    /** Id of a value, or 0 if the dictionary is full. */
    int intern(int slot, String value);

    /** Key of the current thread's block where thread ids do not serve, 0 if it has none. */
    long currentThreadKey();

    /**
     * Whether a signal handler reads the id of the current virtual thread right. Asked on virtual
     * threads until the answer is yes; a no means that this thread gets no context.
     */
    boolean verifyVirtual(long threadId);

    /**
     * Makes {@code DirectMemory} usable for the module, so that the hot path can access the slab
     * with one check for each block. Returns whether it is usable now.
     */
    boolean openMemory(Module module);

    /** Adds one to a counter of {@link Misuse}. */
    void count(int event);

    /** Runs a command in the grammar of the agent's options. */
    String execute(String options);
}
