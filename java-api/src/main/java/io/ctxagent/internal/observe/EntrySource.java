package io.ctxagent.internal.observe;

/** What produces the entries of a type while somebody observes it. Called under a lock. */
public interface EntrySource {
    /** Somebody observes the type from now on, or nobody any more. */
    void turn(boolean on);

    /** Called every 20 ms while anything is observed: publishes what is there. */
    default void poll() {}
}
