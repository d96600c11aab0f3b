package io.netty.util;

public final class AttributeKey<T> {
    public static <T> AttributeKey<T> valueOf(String name) {
        return new AttributeKey<>();
    }
}
