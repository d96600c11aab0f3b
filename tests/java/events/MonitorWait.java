import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A wait for a monitor, as whoever holds the monitor sees it: it has begun when the JVM has called
 * its agents back about it.
 *
 * <p>A thread is {@code BLOCKED} before that call, for as long as it then gets no processor; when
 * it sleeps, the call is over. Virtual threads from 24 on give their carrier back instead and are
 * {@code BLOCKED} after the call.
 */
final class MonitorWait {
    private static final Path SELF = Path.of("/proc/thread-self");

    private final boolean sleeps;
    private volatile Path task;

    /** Of a virtual thread or of a platform thread. */
    MonitorWait(boolean virtual) {
        sleeps = !virtual || Runtime.version().feature() < 24;
    }

    /**
     * For the waiter, right before the monitor: the thread of the system that it runs on is the one
     * that will sleep.
     */
    void comes() {
        try {
            task = SELF.resolveSibling(Files.readSymbolicLink(SELF));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** For the holder: returns when the wait of {@code waiter} has begun. */
    void awaitBegin(Thread waiter) {
        while (task == null || waiter.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
        while (sleeps && !isAsleep()) {
            Thread.onSpinWait();
        }
    }

    /**
     * In one sleep at two looks. In between this thread was in Java code, so that it is no sleep of
     * a safepoint, which the call may meet.
     */
    private boolean isAsleep() {
        long first = sleep();
        return first >= 0 && first == sleep();
    }

    /** How often it has gone to sleep, if it sleeps now; else -1. */
    private long sleep() {
        try {
            String status = Files.readString(task.resolve("status"));
            return status.charAt(after(status, "\nState:\t")) == 'S'
                    ? number(status, after(status, "\nvoluntary_ctxt_switches:\t"))
                    : -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int after(String text, String name) {
        return text.indexOf(name) + name.length();
    }

    private static long number(String text, int begin) {
        return Long.parseLong(text.substring(begin, text.indexOf('\n', begin)));
    }
}
