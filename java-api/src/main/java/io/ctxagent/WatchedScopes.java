package io.ctxagent;

import io.ctxagent.ScopeFinding.Kind;
import io.ctxagent.internal.block.ExtraWork;
import io.ctxagent.internal.block.ScopeWatch;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The scopes that were opened while somebody watches, and what was found about them. For tests: a
 * stack trace for each scope, and one lock. Others pay nothing, see {@link ExtraWork}.
 */
final class WatchedScopes {
    private static final int MAX_OPEN = 10_000;
    private static final int MAX_FINDINGS = 1_000;

    /** The innermost one of a thread; it may be closed. */
    private final ThreadLocal<WatchedScope> top = new ThreadLocal<>();
    /** In the order in which they were opened. */
    private final Set<WatchedScope> open = new LinkedHashSet<>();

    private final List<ScopeFinding> findings = new ArrayList<>();
    private int watches;
    private long opened;
    private long dropped;

    private WatchedScopes() {}

    /** Made when the first one watches, so that scopes of others do not initialise anything. */
    private static final class Only {
        static final WatchedScopes INSTANCE = new WatchedScopes();
    }

    static WatchedScopes instance() {
        return Only.INSTANCE;
    }

    /** One more watches. Returns the number of the last scope so far. */
    synchronized long begin() {
        watches++;
        ExtraWork.set(ExtraWork.WATCH, true);
        return opened;
    }

    /** One less watches. After the last one nothing is kept. */
    synchronized void end() {
        watches--;
        if (watches == 0) {
            ExtraWork.set(ExtraWork.WATCH, false);
            open.clear();
            findings.clear();
            dropped = 0;
        }
    }

    /** The current thread opened a scope. {@code null}: nobody watches, or there are too many. */
    static ScopeWatch opened(Object scope) {
        WatchedScope watched = ExtraWork.isWatched() ? instance().add(scope) : null;
        return watched == null ? null : new Watch(watched);
    }

    private static final class Watch extends ScopeWatch {
        private final WatchedScope scope;

        Watch(WatchedScope scope) {
            super(null);
            this.scope = scope;
        }

        @Override
        protected void closed() {
            instance().closed(scope);
        }
    }

    private synchronized WatchedScope add(Object scope) {
        if (watches == 0) {
            return null;
        } else if (open.size() >= MAX_OPEN) {
            dropped++;
            return null;
        }
        WatchedScope watched = new WatchedScope(scope, ++opened, openBelow(top.get()));
        open.add(watched);
        top.set(watched);
        return watched;
    }

    /** The first one that is open, from this one outwards. */
    private static WatchedScope openBelow(WatchedScope top) {
        WatchedScope scope = top;
        while (scope != null && scope.isClosed()) {
            scope = scope.below;
        }
        return scope;
    }

    /** The current thread closes a scope. */
    synchronized void closed(WatchedScope scope) {
        boolean before = scope.close();
        if (before) {
            add(scope.closed(Kind.CLOSED_TWICE));
        } else if (!scope.isOfCurrentThread()) {
            add(scope.closed(Kind.CLOSED_ON_OTHER_THREAD));
        } else {
            closeInOrder(scope);
        }
        open.remove(scope);
        notifyAll();
    }

    /**
     * A scope that closes too early is a finding once the last one closes that it should have
     * waited for; if that is left open, that is the finding.
     */
    private void closeInOrder(WatchedScope scope) {
        WatchedScope innermost = top.get();
        if (openBelow(innermost) != openBelow(scope.below)) {
            scope.tooEarly = scope.closed(Kind.CLOSED_OUT_OF_ORDER);
            return;
        }
        while (innermost != null && innermost.isClosed()) {
            if (innermost.tooEarly != null) {
                add(innermost.tooEarly);
            }
            innermost = innermost.below;
        }
        top.set(innermost);
    }

    private void add(ScopeFinding finding) {
        if (watches > 0 && findings.size() < MAX_FINDINGS) {
            findings.add(finding);
        } else {
            dropped++;
        }
    }

    /**
     * Takes what was found about scopes with a number above {@code after}. Waits up to so many
     * nanoseconds for other threads to close what their methods left.
     */
    List<ScopeFinding> take(long after, long nanos) {
        long end = System.nanoTime() + nanos;
        while (true) {
            List<WatchedScope> left = left(after);
            synchronized (this) {
                left.removeIf(WatchedScope::isClosed);
                long rest = end - System.nanoTime();
                if (rest <= 0
                        || left.stream().noneMatch(WatchedScope::isOfOtherThread)
                        || !awaitClose(rest)) {
                    return take(after, left);
                }
            }
        }
    }

    /** Until one closes a scope, or so many nanoseconds. Returns false if it was interrupted. */
    private boolean awaitClose(long nanos) {
        try {
            // Rounded up, as 0 is for ever.
            wait(nanos / 1_000_000 + 1);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Without the lock: the VM stops each thread for its stack. */
    private List<WatchedScope> left(long after) {
        List<WatchedScope> all;
        synchronized (this) {
            all = new ArrayList<>(open);
        }
        all.removeIf(scope -> scope.number <= after);
        List<WatchedScope> left = new ArrayList<>();
        List<WatchedScope> perhaps = new ArrayList<>();
        for (WatchedScope scope : all) {
            switch (scope.use()) {
                case LEFT:
                    left.add(scope);
                    break;
                case PERHAPS_LEFT:
                    perhaps.add(scope);
                    break;
                default:
                    break;
            }
        }
        if (!perhaps.isEmpty()) {
            System.gc();
            perhaps.removeIf(scope -> !scope.isCollected());
            left.addAll(perhaps);
        }
        return left;
    }

    private List<ScopeFinding> take(long after, List<WatchedScope> left) {
        List<ScopeFinding> taken = new ArrayList<>();
        for (Iterator<ScopeFinding> found = findings.iterator(); found.hasNext(); ) {
            ScopeFinding finding = found.next();
            if (finding.number > after) {
                found.remove();
                taken.add(finding);
            }
        }
        for (WatchedScope scope : left) {
            open.remove(scope);
            taken.add(scope.left());
        }
        return taken;
    }

    /** Scopes and findings beyond the limits, since the first one watches. */
    synchronized long dropped() {
        return dropped;
    }
}
