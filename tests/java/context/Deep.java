import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.lang.reflect.Method;

/**
 * Threads that run out of stack while they open and close scopes; to be run interpreted, where each
 * step of a scope is a call. Prints one line for each thread whose context is not right afterwards,
 * and {@code done}. Argument: within (a scope is opened and closed again at each depth) or around
 * (each lies inside of the one before, and where the stack has ended a task is wrapped).
 */
public final class Deep {
    private static final int THREADS = 10;
    private static final long STACK = 512 << 10;

    /** The last scope that was built. The error may have come before it was closed. */
    private static RecordingContext last;

    private static boolean around;
    private static final RecordingContextKey KEY = RecordingContextKey.forName("key");
    /** No lambda: nothing is to be linked where the stack ends. */
    private static final Runnable TASK = new Runnable() {
        @Override
        public void run() {}
    };

    public static void main(String[] args) throws Exception {
        around = args[0].equals("around");
        if (!around) {
            RecordingContext.where("key", "warm").build().close();
        }
        for (int i = 0; i < THREADS; i++) {
            int frames = i;
            Thread thread = new Thread(null, () -> overflow(frames), "deep-" + i, STACK);
            thread.start();
            thread.join();
        }
        System.out.println("done");
    }

    /** {@code frames} small ones first, so that the stack ends elsewhere each time. */
    private static void overflow(int frames) {
        try {
            begin(frames);
        } catch (StackOverflowError asMeant) {
            if (!around) {
                last.close();
            }
        }
        RecordingContext.wrap(TASK);
        check("in the next scope", "{key=next}", 1);
        check("afterwards", "{}", 0);
    }

    private static int begin(int frames) {
        return frames > 0 ? 1 + begin(frames - 1) : around ? nest() : descend();
    }

    /**
     * By a key, so that the opening needs more stack within its sequence than before it, and is
     * torn: the close around it is the first one of this VM that has something to repair, where the
     * stack is about to end. There the first task of this VM is wrapped, too.
     */
    private static int nest() {
        try (RecordingContext context = RecordingContext.where(KEY, "nested").build()) {
            return 1 + nest();
        } catch (StackOverflowError asMeant) {
            RecordingContext.wrap(TASK);
            throw asMeant;
        }
    }

    private static int descend() {
        RecordingContext leaf = RecordingContext.where("key", "leaf").build();
        last = leaf;
        leaf.close();
        return 1 + descend();
    }

    private static void check(String when, String expected, int scopes) {
        RecordingContext next =
                scopes == 0 ? null : RecordingContext.where("key", "next").build();
        String seen = RecordingContext.describe();
        if (next != null) {
            next.close();
        }
        if (!seen.equals(expected) || hasScope()) {
            System.out.println("wrong " + when + ": " + seen + ", open scope " + hasScope());
        }
    }

    /** Whether a scope is open. */
    private static boolean hasScope() {
        try {
            Class<?> slab = Class.forName("io.ctxagent.internal.block.Slab");
            Method current = Class.forName("io.ctxagent.internal.agent.CurrentThread")
                    .getDeclaredMethod("key");
            Method find = slab.getDeclaredMethod("find", long.class);
            Method hasScope = slab.getDeclaredMethod("hasScope", long.class);
            current.setAccessible(true);
            find.setAccessible(true);
            hasScope.setAccessible(true);
            long block = (long) find.invoke(null, current.invoke(null));
            return block != 0 && (boolean) hasScope.invoke(null, block);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
