package io.ctxagent.internal.agent;

import java.nio.ByteBuffer;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What the Java API asks of the agent, off the hot path: the contract between the two. {@link
 * Native} is the agent library of this VM; tests bring a double. An object that is {@code null}
 * means that the heap was full: Java asks again.
 */
public interface Agent {
    /**
     * Version of the contract that the agent speaks; 0 while the agent is not up yet. If it is
     * another one, the API does nothing, and calls {@link #refused}.
     */
    int abi();

    /**
     * Reports that this API needs contract {@code wanted}, which is not the agent's: for the log,
     * {@code status} and the counter {@code api.refused}.
     */
    void refused(int wanted);

    /** Reports, as {@link #refused} does, that this API is off because its preparation failed. */
    void failed(String why);

    /** The numbers of {@link Layout}, or {@code null}. */
    long[] layout();

    /** A direct buffer over all context blocks, which are never freed, or {@code null}. */
    ByteBuffer slab();

    /**
     * Slot of an attribute name, 0 to 7, or -1 if none is left. A name keeps its slot for the life
     * of the VM.
     */
    int bindKey(String name);

    /** Slots of these names, or {@code null}, with no slot taken, if they do not all fit. */
    int[] bindKeys(String[] names);

    /**
     * Sets the texts that people read about the attribute in a slot; empty means none. The last
     * call counts.
     */
    void describeAttribute(int slot, String label, String description, String contextType);

    /**
     * Sets the event types that threads without a context may be recorded with, one bit each as in
     * the event mask of a block.
     */
    void filterWithoutContext(int mask);

    /**
     * Id of a value, from 1 on; 0 if the dictionary is full: the caller then writes the value raw,
     * or {@link Layout#overflowId}.
     */
    int intern(int slot, String value);

    /** The name of the attribute in a slot, or {@code null}. */
    String attribute(int slot);

    /** The text of the value with an id of {@link #intern}, or {@code null}. */
    String value(int id);

    /**
     * Key of the current thread's block, 0 if it has none. Used on 17, where {@code
     * Thread.threadId()} is missing.
     */
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

    /** Whether a recording wants tasks to carry contexts. */
    boolean wantsTasks();

    /**
     * Lets the agent use a {@code TaskCarrier} for tasks that the application hands to the JDK. The
     * agent holds it weakly, and only one at a time.
     */
    void carryTasks(BinaryOperator<Object> carrier);

    /** How long a scope takes at least that a recording wants; negative if it wants none. */
    long scopeThreshold();

    /**
     * Records a scope that the current thread closes; its block still has the values. Times as of
     * {@link System#nanoTime}. {@code slots}: those that it set; {@code changed}: those that had
     * another value meanwhile, see {@code Frames}. Returns 2; 1 if its values may not be seen
     * elsewhere, 0 if it is not recorded, and -1 if no recording wants scopes.
     */
    int scopeClosed(long startNanos, long endNanos, int slots, int changed);

    /** One more wants the pauses of the garbage collector, or one less. */
    void observePauses(boolean more);

    /**
     * Takes the pauses of the garbage collector that nobody took yet: start and end of each, as of
     * {@link System#nanoTime}; {@code null} if there is none.
     */
    long[] takePauses();

    /**
     * Tells an observer of connects (kind 0) or look-ups of names (1), or no longer. For each that
     * begins it gets the {@code SocketAddress} or name. What it returns, unless {@code null}, gets
     * the outcome: the failure; an array of each {@code InetAddress}; {@code null} for a connect
     * that ended well. The agent drops what they throw. Returns whether that has an effect.
     */
    boolean observeNetwork(int kind, Function<Object, Consumer<Object>> observer, boolean on);

    /**
     * Defines the class {@code Labels} in the boot loader, unless it is there, by which observers
     * get requests and scopes of libraries. Returns whether it is there.
     */
    boolean prepareLabels();

    /** Records what the current thread notes; times as of {@link System#nanoTime}. */
    void mark(String name, long startNanos, long endNanos);

    /**
     * CPU time that a sample stands for on average, in nanoseconds; 0 where no recording takes
     * samples of the CPU, and where it takes others beside them.
     */
    long sampleNanos();

    /** When the agent was loaded, and when the VM was up, as of {@link System#nanoTime}. */
    long[] milestones();

    /** Adds one to a counter of {@link Misuse}. */
    void count(int event);

    /** Runs a command, as {@code AgentControl.execute}. */
    String execute(String options);
}
