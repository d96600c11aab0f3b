package io.ctxagent.internal.loader;

import java.util.function.Consumer;

/** {@code System.load}: a class, as the first lambda of a VM takes milliseconds. */
final class SystemLoader implements Consumer<String> {
    @Override
    public void accept(String path) {
        System.load(path);
    }
}
