package io.ctxagent.internal.loader;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Consumer;

/** Loads a library for a class, where {@code java.lang} is open to this class. */
public final class LibraryLoader implements Consumer<String> {
    private final Class<?> caller;

    public LibraryLoader(Class<?> caller) {
        this.caller = caller;
    }

    /** @throws IllegalStateException if this JDK does it otherwise */
    @Override
    public void accept(String path) {
        try {
            Method load = Runtime.class.getDeclaredMethod("load0", Class.class, String.class);
            load.setAccessible(true);
            load.invoke(Runtime.getRuntime(), caller, path);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Error) {
                throw (Error) thrown.getCause();
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (ReflectiveOperationException | RuntimeException changed) {
            throw new IllegalStateException(changed);
        }
    }
}
