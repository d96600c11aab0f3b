package io.ctxagent;

import io.ctxagent.internal.agent.Agent;
import io.ctxagent.internal.agent.BlockLayout;
import io.ctxagent.internal.agent.Bridge;
import io.ctxagent.internal.agent.CurrentThread;
import io.ctxagent.internal.agent.Exclusive;
import io.ctxagent.internal.agent.Headroom;
import io.ctxagent.internal.agent.Memory;
import io.ctxagent.internal.agent.Misuse;
import io.ctxagent.internal.agent.PreparedMemory;
import io.ctxagent.internal.block.CurrentBlock;
import io.ctxagent.internal.block.EventFilter;
import io.ctxagent.internal.block.PreparedBlocks;
import io.ctxagent.internal.block.ScopeMirror;
import io.ctxagent.internal.block.TimedScopes;
import io.ctxagent.internal.intern.PreparedValues;
import io.ctxagent.internal.intern.RecentValues;
import io.ctxagent.internal.propagation.TaskCarrier;

/**
 * Whether contexts are on, the preparation of the hot path, and what the agent calls.
 *
 * <p>The classes of the hot path keep what they need in static final fields, which the compiler
 * folds into the code. Their initialisers must not fail: a class whose initialisation failed once,
 * for want of memory or stack, can never be used again, and says so to the application each time.
 * So all that can fail is done here, in {@link PreparedMemory}, {@link PreparedValues} and {@link
 * PreparedBlocks}, by code that can be run again, and the initialisers only copy the results.
 */
final class ContextSupport {
    /**
     * Failures after which only one in so many calls tries again: each one may cost a garbage
     * collection.
     */
    private static final int TRIES_AT_ONCE = 16;

    private static final int CALLS_PER_TRY = 64;
    /** Failures for another reason than a shortage after which contexts stay off. */
    private static final int MAX_FAILURES = 4;

    /** Racy: a rough number is enough. */
    private static int shortages;

    private static int failures;
    /** Made when first used, as all here. */
    private static Exclusive preparation;
    /** The agent holds it weakly. Guarded by {@link #preparation}. */
    private static TaskCarrier carrier;

    private ContextSupport() {}

    /** Whether contexts are on: the hot path asks this first. Never throws. */
    static boolean isOn() {
        int state = Bridge.state();
        return state == Bridge.READY || state == Bridge.UNKNOWN && prepare();
    }

    /**
     * The agent, or {@code null} if none is loaded. Every use of the API loads this class, by which
     * the agent finds the API.
     */
    static Agent agent() {
        return Bridge.agent();
    }

    /**
     * Called by the agent when it was loaded after this class. Contexts opened before stay no-ops.
     */
    static void agentLoaded() {
        Bridge.reconnect();
    }

    /**
     * Called by the agent before it starts a recording, so that context types have their columns
     * from the first chunk on.
     */
    static void beforeRecording() {
        Bridge.reconnect();
        if (Bridge.isConnected()) {
            askForScopes();
        }
        ContextProviders.run();
        if (Bridge.state() == Bridge.READY) {
            prepareAlone();
        }
    }

    /**
     * A builder without effect builds a scope: counts it if the agent came since, which may not
     * have prepared anything if nobody else uses the API.
     */
    static void countMadeBeforeAgent() {
        if (isOn()) {
            Bridge.count(Misuse.MADE_BEFORE_AGENT);
        }
    }

    /**
     * Has the hot path prepared where the agent is there. {@code false}: contexts are off, or off
     * for now.
     */
    private static boolean prepare() {
        if (shortages > TRIES_AT_ONCE && (++shortages & CALLS_PER_TRY - 1) != 0) {
            return false;
        }
        try {
            prepareAlone();
            if (Bridge.state() == Bridge.READY) {
                // Outside: it may run providers.
                EventFilter.prepare();
                return true;
            }
            if (Bridge.state() == Bridge.UNKNOWN) {
                shortages++;
            }
        } catch (VirtualMachineError shortage) {
            shortages++;
        } catch (LinkageError | RuntimeException unexpected) {
            if (++failures >= MAX_FAILURES) {
                Bridge.fail(unexpected.toString());
            }
        }
        return false;
    }

    /**
     * Prepares the hot path, or only has tasks carry contexts. Without a lock, as classes are
     * loaded and initialised. Does nothing in a loader or a security manager of the application
     * that the preparation calls, and that uses this API.
     */
    private static void prepareAlone() {
        Exclusive one = preparation();
        if (one.enter()) {
            try {
                prepareHere();
            } finally {
                one.leave();
            }
        }
    }

    private static synchronized Exclusive preparation() {
        if (preparation == null) {
            preparation = new Exclusive();
        }
        return preparation;
    }

    private static void prepareHere() {
        if (Bridge.state() == Bridge.UNKNOWN && Bridge.isConnected()) {
            Headroom.requireMemory();
            Headroom.requireStack();
            PreparedMemory.make();
            Memory.initialise();
            PreparedValues.make();
            PreparedBlocks.make();
            initialise();
            // Before the first scope, like the next: from then on tasks carry it.
            askForScopes();
            carryTasks();
            Bridge.setReady();
        }
        if (Bridge.state() == Bridge.READY) {
            // A recording that began meanwhile may not have found this copy ready.
            carryTasks();
        }
    }

    private static void askForScopes() {
        if (TimedScopes.ask()) {
            TimedScopes.mirror(jdkScopes());
        }
    }

    /** {@code null} where the JDK's recorder does not show scopes. */
    private static ScopeMirror jdkScopes() {
        try {
            return Runtime.version().feature() < JdkScopes.FIRST_RELEASE ? null : new JdkScopes();
        } catch (LinkageError noRecorder) {
            return null;
        }
    }

    /** Contexts are on, also where this fails. */
    private static void carryTasks() {
        try {
            if (carrier == null && Bridge.agent().wantsTasks()) {
                carrier = new TaskCarrier(new CarriedContext.Source());
                Bridge.agent().carryTasks(carrier);
            }
        } catch (VirtualMachineError | LinkageError notNow) {
            // Tasks get their context by wrap only.
        }
    }

    /**
     * One after the other from here: an initialiser that runs in another one needs more stack.
     * Those first that others use.
     */
    private static void initialise() {
        BlockLayout.initialise();
        CurrentThread.initialise();
        RecentValues.initialise();
        CurrentBlock.initialiseClasses();
        // What a first scope uses beyond these: loaded and tried here.
        EventFilter.inUse();
        CurrentBlock.forReading(CurrentThread.key());
    }
}
