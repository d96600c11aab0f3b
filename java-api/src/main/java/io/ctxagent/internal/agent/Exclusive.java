package io.ctxagent.internal.agent;

/**
 * Lets one thread at a time do what no lock may be held for: work that loads or initialises
 * classes, or calls code of others. Those may wait for locks of the application, and a thread that
 * has such a lock may come here. So a thread waits for another one for a limited time only, and
 * goes on without.
 */
public final class Exclusive {
    /** Far more than that work takes, also on a busy machine. */
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private Thread inside;
    /** The thread inside was waited for in vain: nobody does so again. */
    private boolean isStuck;

    /**
     * Whether the current thread may begin, and has to {@link #leave} then. {@code false}: it is
     * inside already, or another one is and does not leave.
     */
    public synchronized boolean enter() {
        Thread current = Thread.currentThread();
        if (inside != null && inside != current && !isStuck) {
            awaitLeave();
        }
        if (inside != null) {
            return false;
        }
        inside = current;
        return true;
    }

    /** Lets the next one in. */
    public synchronized void leave() {
        inside = null;
        isStuck = false;
        notifyAll();
    }

    private void awaitLeave() {
        boolean interrupted = false;
        long end = System.nanoTime() + PATIENCE_NANOS;
        for (long rest = PATIENCE_NANOS;
                inside != null && rest > 0;
                rest = end - System.nanoTime()) {
            try {
                // Rounded up, as 0 is for ever.
                wait(rest / 1_000_000 + 1);
            } catch (InterruptedException kept) {
                interrupted = true;
            }
        }
        isStuck = inside != null;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
