package io.grpc;

public interface ServerCallHandler<Q, R> {
    ServerCall.Listener<Q> startCall(ServerCall<Q, R> call, Metadata headers);
}
