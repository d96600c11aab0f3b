package io.ctxagent.internal.observe;

/**
 * The agent's class {@code io.ctxagent.labels.Labels}, which it defines in the boot loader for a
 * recording that labels requests, or for an observer of those.
 */
public final class LabelSources {
    private static final String CLASS = "io.ctxagent.labels.Labels";

    private LabelSources() {}

    /** Calls a method with an observer. {@code false}: there is no such class. */
    static boolean observe(String method, Class<?> type, Object observer, boolean on) {
        try {
            Class.forName(CLASS, true, null)
                    .getMethod(method, type, boolean.class)
                    .invoke(null, observer, on);
            return true;
        } catch (ReflectiveOperationException | LinkageError absent) {
            return false;
        }
    }

    /** When the first request began, as of {@link System#nanoTime}; 0: there was none. */
    public static long firstRequest() {
        try {
            return (long)
                    Class.forName(CLASS, true, null).getMethod("firstRequest").invoke(null);
        } catch (ReflectiveOperationException | LinkageError absent) {
            return 0;
        }
    }
}
