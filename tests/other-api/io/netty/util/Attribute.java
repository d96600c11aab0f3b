package io.netty.util;

public interface Attribute<T> {
    T get();

    void set(T value);
}
