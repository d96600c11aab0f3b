package service;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;

/**
 * Three methods of a gRPC server, called by turns, and one that it does not have. Arguments: calls
 * of each; {@code virtual} or {@code platform}.
 */
public class GrpcService {
    private static final MethodDescriptor<String, String> GET = method("Get", MethodType.UNARY);
    private static final MethodDescriptor<String, String> LIST =
            method("List", MethodType.SERVER_STREAMING);
    private static final MethodDescriptor<String, String> ADD =
            method("Add", MethodType.CLIENT_STREAMING);

    private static MethodDescriptor<String, String> method(String name, MethodType type) {
        return MethodDescriptor.<String, String>newBuilder()
                .setType(type)
                .setFullMethodName("shop.Orders/" + name)
                .setRequestMarshaller(new Text())
                .setResponseMarshaller(new Text())
                .build();
    }

    private static final class Text implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void get(String request, StreamObserver<String> answer) {
        Work.spin(1_000_000);
        answer.onNext(request);
        answer.onCompleted();
    }

    private static void list(String request, StreamObserver<String> answers) {
        for (int i = 0; i < 3; i++) {
            Work.spin(300_000);
            answers.onNext(request + i);
        }
        answers.onCompleted();
    }

    private static StreamObserver<String> add(StreamObserver<String> answer) {
        return new StreamObserver<>() {
            @Override
            public void onNext(String value) {
                Work.spin(500_000);
            }

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onCompleted() {
                answer.onNext("added");
                answer.onCompleted();
            }
        };
    }

    private static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder("shop.Orders")
                .addMethod(GET, ServerCalls.asyncUnaryCall(GrpcService::get))
                .addMethod(LIST, ServerCalls.asyncServerStreamingCall(GrpcService::list))
                .addMethod(ADD, ServerCalls.asyncClientStreamingCall(GrpcService::add))
                .build();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService threads = Threads.of(args[1]);
        Server server = OkHttpServerBuilder.forPort(0, InsecureServerCredentials.create())
                .executor(threads)
                .addService(service())
                .build()
                .start();
        ManagedChannel channel = OkHttpChannelBuilder.forAddress(
                        "127.0.0.1", server.getPort(), InsecureChannelCredentials.create())
                .build();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            call(channel, GET, "order");
            ClientCalls.blockingServerStreamingCall(channel, LIST, CallOptions.DEFAULT, "orders")
                    .forEachRemaining(answer -> {});
            upload(channel);
            try {
                call(channel, method("Unknown" + i, MethodType.UNARY), "order");
            } catch (StatusRuntimeException unimplemented) {
                continue;
            }
            throw new AssertionError("called a method that is not there");
        }
        channel.shutdownNow();
        server.shutdownNow().awaitTermination();
        threads.shutdown();
    }

    private static void call(
            ManagedChannel channel, MethodDescriptor<String, String> method, String request) {
        ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }

    private static void upload(ManagedChannel channel) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<String> requests = ClientCalls.asyncClientStreamingCall(
                channel.newCall(ADD, CallOptions.DEFAULT), new StreamObserver<>() {
                    @Override
                    public void onNext(String answer) {}

                    @Override
                    public void onError(Throwable failure) {
                        done.countDown();
                    }

                    @Override
                    public void onCompleted() {
                        done.countDown();
                    }
                });
        requests.onNext("one");
        requests.onNext("two");
        requests.onCompleted();
        done.await();
    }
}
