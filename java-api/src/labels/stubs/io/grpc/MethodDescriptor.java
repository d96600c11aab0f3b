package io.grpc;

public final class MethodDescriptor<Q, R> {
    public String getFullMethodName() {
        throw new AssertionError();
    }
}
