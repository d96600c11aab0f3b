package io.ctxagent;

import java.util.List;

/**
 * A scope that was not used as it should be, see {@link StrictContexts}. Its text has the stacks.
 * Immutable, for all threads; the same without the agent.
 *
 * @since 0.1
 */
public final class ScopeFinding {
    /**
     * What is wrong with a scope.
     *
     * @since 0.1
     */
    public enum Kind {
        /** Nobody closed it, and the method that opened it has returned. */
        LEFT_OPEN,
        /** It was closed by a thread that did not open it. */
        CLOSED_ON_OTHER_THREAD,
        /** It was closed before a scope that its thread opened later. */
        CLOSED_OUT_OF_ORDER,
        /** It was closed before. */
        CLOSED_TWICE
    }

    /** That of the scope, see {@link WatchedScopes}. */
    final long number;

    private final Kind kind;
    private final String opener;
    private final List<StackTraceElement> opened;
    private final String end;
    private final List<StackTraceElement> closed;

    ScopeFinding(
            long number,
            Kind kind,
            String opener,
            List<StackTraceElement> opened,
            String end,
            List<StackTraceElement> closed) {
        this.number = number;
        this.kind = kind;
        this.opener = opener;
        this.opened = opened;
        this.end = end;
        this.closed = closed;
    }

    /**
     * What is wrong with the scope.
     *
     * @return the kind, not {@code null}
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Where the scope was opened: the stack of the thread, from the caller of the API on.
     *
     * @return the frames, the innermost first; not {@code null}
     */
    public List<StackTraceElement> opened() {
        return opened;
    }

    /**
     * Where the scope was closed in the wrong way: the stack of the thread, from the caller of the
     * API on.
     *
     * @return the frames, the innermost first; not {@code null}, empty if nobody closed it
     */
    public List<StackTraceElement> closed() {
        return closed;
    }

    /**
     * The kind, the threads and the stacks, in several lines.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return kind + ": scope opened by " + opener + lines(opened) + "\n  " + end + lines(closed);
    }

    private static String lines(List<StackTraceElement> frames) {
        StringBuilder all = new StringBuilder();
        for (StackTraceElement frame : frames) {
            all.append("\n    at ").append(frame);
        }
        return all.toString();
    }
}
