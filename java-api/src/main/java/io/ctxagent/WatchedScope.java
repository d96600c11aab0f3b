package io.ctxagent;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Set;

/** A scope that was opened while somebody watches: where, by whom, and whether it is closed. */
final class WatchedScope {
    /** Classes of the API that open scopes for their callers. */
    private static final Set<String> API = Set.of(
            "io.ctxagent.RecordingContext",
            "io.ctxagent.Labels",
            "io.ctxagent.Scope",
            "io.ctxagent.StrictContexts",
            "io.ctxagent.WatchedScope",
            "io.ctxagent.WatchedScopes");

    private static final String INTERNAL = "io.ctxagent.internal.";
    /** Of a longer stack the VM reports only the top, so that nothing can be compared. */
    private static final int LONGEST_STACK = 1_000;

    /** Whether somebody may close a scope. */
    enum Use {
        /** It is closed, or may be, or that cannot be told. */
        IN_USE,
        PERHAPS_LEFT,
        LEFT
    }

    /** The order in which scopes were opened, in all threads. */
    final long number;
    /** What the thread had opened before, {@code null} at the bottom. */
    final WatchedScope below;

    private final WeakReference<Object> scope;
    private final WeakReference<Thread> thread = new WeakReference<>(Thread.currentThread());
    private final String threadName = Thread.currentThread().toString();
    private final List<StackTraceElement> opened = callers();
    /** Set where it closed before one that its thread opened later. */
    ScopeFinding tooEarly;

    private volatile boolean closed;

    WatchedScope(Object scope, long number, WatchedScope below) {
        this.scope = new WeakReference<>(scope);
        this.number = number;
        this.below = below;
    }

    /** The stack of this thread from the caller of the API on. */
    static List<StackTraceElement> callers() {
        List<StackTraceElement> all = List.of(new Throwable().getStackTrace());
        int first = 0;
        while (first < all.size() && isOfApi(all.get(first).getClassName())) {
            first++;
        }
        return all.subList(first, all.size());
    }

    private static boolean isOfApi(String name) {
        int nested = name.indexOf('$');
        String outer = nested < 0 ? name : name.substring(0, nested);
        return outer.startsWith(INTERNAL) || API.contains(outer);
    }

    /** Notes that it is closed. Returns whether it was before. Under the lock of all. */
    boolean close() {
        boolean before = closed;
        closed = true;
        return before;
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether another thread that lives opened it, and may yet close it. */
    boolean isOfOtherThread() {
        return !isOfCurrentThread() && hasThread();
    }

    boolean isOfCurrentThread() {
        return thread.get() == Thread.currentThread();
    }

    /** That nobody closed it. */
    ScopeFinding left() {
        String end = hasThread()
                ? "never closed; its thread goes on, and what it does has the context"
                : "never closed; its thread has ended";
        return finding(ScopeFinding.Kind.LEFT_OPEN, end, List.of());
    }

    /** That the current thread closes it in this wrong way. */
    ScopeFinding closed(ScopeFinding.Kind kind) {
        return finding(kind, "closed by " + Thread.currentThread(), callers());
    }

    private ScopeFinding finding(
            ScopeFinding.Kind kind, String end, List<StackTraceElement> closed) {
        return new ScopeFinding(number, kind, threadName, opened, end, closed);
    }

    /** Whether its thread still lives. */
    boolean hasThread() {
        Thread owner = thread.get();
        return owner != null && owner.isAlive();
    }

    /**
     * Whether somebody may close it: nobody if its thread has ended, or the method that opened it
     * has returned and so has that one's caller, for whom it may have opened it. Where only the
     * method has returned, {@link #isCollected} tells. One look at the stack.
     */
    Use use() {
        Thread owner = thread.get();
        if (closed) {
            return Use.IN_USE;
        } else if (owner == null || !owner.isAlive()) {
            return Use.LEFT;
        }
        List<StackTraceElement> now = List.of(owner.getStackTrace());
        boolean isKnown = opened.size() < LONGEST_STACK && now.size() < LONGEST_STACK;
        if (closed || !isKnown || isCaller(opened, now)) {
            return Use.IN_USE;
        }
        List<StackTraceElement> callers = opened.subList(Math.min(1, opened.size()), opened.size());
        return isCaller(callers, now) ? Use.PERHAPS_LEFT : Use.LEFT;
    }

    /** Whether the scope was collected, so that nobody can close it. */
    boolean isCollected() {
        return !closed && scope.get() == null;
    }

    /** Whether the methods of {@code outer}, from the outermost on, are those of {@code stack}. */
    private static boolean isCaller(List<StackTraceElement> outer, List<StackTraceElement> stack) {
        int more = stack.size() - outer.size();
        if (more < 0) {
            return false;
        }
        for (int i = 0; i < outer.size(); i++) {
            StackTraceElement then = outer.get(i);
            StackTraceElement now = stack.get(more + i);
            if (!then.getMethodName().equals(now.getMethodName())
                    || !then.getClassName().equals(now.getClassName())) {
                return false;
            }
        }
        return true;
    }
}
