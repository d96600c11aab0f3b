package io.ctxagent;

import java.time.Duration;
import java.util.List;

/**
 * Watches how scopes are used, for tests: scopes that nobody closes, also those that a task leaves
 * to the thread of a pool, and those that are closed on another thread, out of order or twice. Each
 * with the stack that opened it. Works without the agent, too.
 *
 * <pre>{@code
 * try (var watch = StrictContexts.watch()) {
 *     handle(request);
 *     assertEquals(List.of(), watch.takeFindings(Duration.ofSeconds(1)));
 * }
 * }</pre>
 *
 * <p>Cost while somebody watches: a stack trace and a lock for each scope; else none. Watched are
 * {@link RecordingContext} and {@link RecordingContext.Activation}, up to 10,000 open ones.
 *
 * @since 0.1
 */
public final class StrictContexts implements AutoCloseable {
    private final long after;
    private boolean closed;

    private StrictContexts() {
        after = WatchedScopes.instance().begin();
    }

    /**
     * Begins to watch the scopes that all threads open from now on. Several may watch at a time;
     * each finding goes to the one that takes it first.
     *
     * @return the watch, not {@code null}; close it
     */
    public static StrictContexts watch() {
        return new StrictContexts();
    }

    /**
     * Takes what was found since this watch began, or since the last call: first the scopes that
     * were closed in a wrong way, then those that are left open: whose thread has ended, or whose
     * opening method has returned and its caller, too. Where only the caller still runs, which may
     * have the scope, {@link System#gc} shows whether anybody has it.
     *
     * @param patience how long other threads may take to close such scopes, not {@code null}; the
     *     call returns as soon as they have. One that is interrupted does not wait
     * @return the findings, not {@code null}; at most 1,000 are kept
     */
    public List<ScopeFinding> takeFindings(Duration patience) {
        long nanos = patience.toNanos();
        return closed ? List.of() : WatchedScopes.instance().take(after, nanos);
    }

    /**
     * Scopes and findings that were dropped for the limits, since the first watch began.
     *
     * @return their number
     */
    public long dropped() {
        return WatchedScopes.instance().dropped();
    }

    /** Ends the watch; findings that nobody took are dropped with the last one. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            WatchedScopes.instance().end();
        }
    }
}
