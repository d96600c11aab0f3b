package io.grpc;

public final class ServerMethodDefinition<Q, R> {
    public ServerCallHandler<Q, R> getServerCallHandler() {
        throw new AssertionError();
    }
}
