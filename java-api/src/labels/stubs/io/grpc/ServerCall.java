package io.grpc;

public abstract class ServerCall<Q, R> {
    public abstract MethodDescriptor<Q, R> getMethodDescriptor();

    public abstract static class Listener<Q> {
        public void onMessage(Q message) {}

        public void onHalfClose() {}

        public void onCancel() {}

        public void onComplete() {}

        public void onReady() {}
    }
}
