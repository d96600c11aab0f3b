package io.opentelemetry.context;

/** With the methods that the agent hooks. */
public final class ThreadLocalContextStorage {
    private static final ThreadLocal<Context> STORAGE = new ThreadLocal<>();

    public Scope attach(Context context) {
        STORAGE.set(context);
        return new ScopeImpl();
    }

    public Context current() {
        return STORAGE.get();
    }

    public static final class ScopeImpl implements Scope {
        public void close() {
            STORAGE.set(null);
        }
    }
}
