import io.ctxagent.RecordingContext;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Compares what was seen with what was expected; prints {@code wrong: ...} where it differs. */
final class Checks {
    /** The context of a thread that has none. */
    static final String NONE = "{}";

    private static final AtomicInteger count = new AtomicInteger();

    private Checks() {}

    static void same(String what, Object expected, Object seen) {
        count.incrementAndGet();
        if (!Objects.equals(expected, seen)) {
            System.out.println("wrong: " + what + ": expected " + expected + ", saw " + seen);
        }
    }

    /** The context of the current thread. */
    static void context(String what, String expected) {
        same(what, expected, RecordingContext.describe());
    }

    /** The scope of a request, and what its context looks like. */
    static RecordingContext request(String name) {
        return RecordingContext.where("tenant", name).build();
    }

    static String contextOf(String name) {
        return "{tenant=" + name + "}";
    }

    static void printCount() {
        System.out.println("checked: " + count);
    }
}
