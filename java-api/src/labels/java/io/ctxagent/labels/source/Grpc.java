package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;

/**
 * gRPC servers: a call has the name of its method, {@code shop.Orders/Get}, wherever its listener
 * is called. Those of an application are as many as it has methods: for others there is no handler.
 */
public final class Grpc {
    private static final int SOURCE = Labels.GRPC;

    private Grpc() {}

    /** In place of {@code ServerMethodDefinition.getServerCallHandler}. */
    public static ServerCallHandler<?, ?> handler(ServerMethodDefinition<?, ?> method) {
        ServerCallHandler<?, ?> handler = method.getServerCallHandler();
        return Labels.isOn(SOURCE) ? labelled(handler) : handler;
    }

    private static ServerCallHandler<?, ?> labelled(ServerCallHandler<?, ?> handler) {
        try {
            return new Handler<>(handler);
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return handler;
        }
    }

    private static Object open(String method) {
        return method == null || !Labels.isOn(SOURCE) ? null : Labels.open(SOURCE, method);
    }

    /** Calls of a method of the application. */
    private static final class Handler<Q, R> implements ServerCallHandler<Q, R> {
        private final ServerCallHandler<Q, R> handler;

        Handler(ServerCallHandler<Q, R> handler) {
            this.handler = handler;
        }

        @Override
        public ServerCall.Listener<Q> startCall(ServerCall<Q, R> call, Metadata headers) {
            String method = nameOf(call);
            Object scope = open(method);
            ServerCall.Listener<Q> listener;
            try {
                listener = handler.startCall(call, headers);
            } finally {
                Labels.close(SOURCE, scope);
            }
            // Without a listener gRPC fails, with its own words.
            return listener == null || method == null ? listener : new Listener<>(listener, method);
        }

        private static String nameOf(ServerCall<?, ?> call) {
            try {
                return call.getMethodDescriptor().getFullMethodName();
            } catch (Throwable failure) {
                Labels.failed(SOURCE, failure);
                return null;
            }
        }
    }

    /** What happens in a call, on any thread. */
    private static final class Listener<Q> extends ServerCall.Listener<Q> {
        private final ServerCall.Listener<Q> listener;
        private final String method;

        Listener(ServerCall.Listener<Q> listener, String method) {
            this.listener = listener;
            this.method = method;
        }

        @Override
        public void onMessage(Q message) {
            Object scope = open(method);
            try {
                listener.onMessage(message);
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public void onHalfClose() {
            Object scope = open(method);
            try {
                listener.onHalfClose();
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public void onCancel() {
            Object scope = open(method);
            try {
                listener.onCancel();
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public void onComplete() {
            Object scope = open(method);
            try {
                listener.onComplete();
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public void onReady() {
            Object scope = open(method);
            try {
                listener.onReady();
            } finally {
                Labels.close(SOURCE, scope);
            }
        }

        @Override
        public String toString() {
            return listener.toString();
        }
    }
}
