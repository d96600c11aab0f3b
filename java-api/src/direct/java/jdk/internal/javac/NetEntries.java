package jdk.internal.javac;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What {@link NetChannels} and {@code java.net.NetCalls} call where the JDK connects or looks up a
 * name: tells those who observe it. The agent holds the bytes of this class and defines it in
 * {@code java.base}, beside {@link DirectMemory}, when somebody observes for the first time.
 *
 * <p>No method throws, whatever an observer does.
 */
public final class NetEntries {
    /** Numbers of what can be observed. */
    public static final int NET = 0;

    public static final int DNS = 1;
    private static final int KINDS = 2;

    /** Of copies of the Java API: from an address or a name to what takes the outcome. */
    private static final AtomicReferenceArray<Function<Object, Consumer<Object>>[]> observers =
            new AtomicReferenceArray<>(KINDS);

    private NetEntries() {}

    /** Called by the agent only: one more observes, or no longer. */
    private static synchronized void observe(
            int kind, Function<Object, Consumer<Object>> observer, boolean on) {
        Function<Object, Consumer<Object>>[] known = observers.get(kind);
        int count = known == null ? 0 : known.length;
        @SuppressWarnings({"unchecked", "rawtypes"})
        Function<Object, Consumer<Object>>[] next = new Function[count + 1];
        int length = 0;
        for (int i = 0; i < count; i++) {
            if (known[i] != observer) {
                next[length++] = known[i];
            }
        }
        if (on) {
            next[length++] = observer;
        }
        observers.set(kind, length == 0 ? null : Arrays.copyOf(next, length));
    }

    /** Something begins. Returns what {@link #end} takes; {@code null}: nobody observes it. */
    public static Object begin(int kind, Object subject) {
        Function<Object, Consumer<Object>>[] known = observers.get(kind);
        Object[] begun = null;
        for (int i = 0; known != null && i < known.length; i++) {
            try {
                begun = begun == null ? new Object[known.length] : begun;
                begun[i] = known[i].apply(subject);
            } catch (Throwable ofObserver) {
                // It has no entry.
            }
        }
        return begun;
    }

    /** It ends with a failure, with what was found, or with {@code null}. */
    @SuppressWarnings("unchecked")
    public static void end(Object begun, Object outcome) {
        Object[] all = (Object[]) begun;
        for (int i = 0; all != null && i < all.length; i++) {
            try {
                if (all[i] != null) {
                    ((Consumer<Object>) all[i]).accept(outcome);
                }
            } catch (Throwable ofObserver) {
                // It has no entry.
            }
        }
    }
}
