package service;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import kotlin.Unit;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.intrinsics.IntrinsicsKt;
import kotlin.coroutines.jvm.internal.SuspendLambda;
import kotlin.jvm.functions.Function2;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.Dispatchers;

/**
 * The server of the JDK, whose requests are coroutines on two dispatchers of Kotlin. The argument
 * says how often it is asked.
 */
public class CoroutineService {
    private static void orders() {
        Work.spin(500_000);
    }

    private static void searches() {
        Work.spin(500_000);
    }

    private static void noRequest() {
        Work.spin(500_000);
    }

    /** What the compiler of Kotlin makes of {@code repeat(3) { work.run(); delay(1) }}. */
    private static final class Steps extends SuspendLambda
            implements Function2<CoroutineScope, Continuation<? super Unit>, Object> {
        private static final long serialVersionUID = 1;
        private final transient Runnable work;
        private int step;

        @SuppressWarnings("unchecked")
        Steps(Runnable work, Continuation<?> completion) {
            super(2, (Continuation<Object>) completion);
            this.work = work;
        }

        @Override
        @SuppressWarnings("unchecked")
        public Continuation<Unit> create(Object scope, Continuation<?> completion) {
            return (Continuation<Unit>) (Continuation<?>) new Steps(work, completion);
        }

        @Override
        public Object invoke(CoroutineScope scope, Continuation<? super Unit> completion) {
            return new Steps(work, completion).invokeSuspend(Unit.INSTANCE);
        }

        @Override
        protected Object invokeSuspend(Object result) {
            Object suspended = IntrinsicsKt.getCOROUTINE_SUSPENDED();
            while (step++ < 3) {
                work.run();
                if (DelayKt.delay(1, this) == suspended) {
                    return suspended;
                }
            }
            return Unit.INSTANCE;
        }
    }

    private static void run(CoroutineDispatcher dispatcher, Runnable work) {
        try {
            BuildersKt.runBlocking(dispatcher, new Steps(work, null));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(
            HttpServer server, String path, CoroutineDispatcher dispatcher, Runnable work) {
        server.createContext(path, exchange -> {
            run(dispatcher, work);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
    }

    public static void main(String[] args) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer server = HttpServer.create(any, 0);
        serve(server, "/orders", Dispatchers.getDefault(), CoroutineService::orders);
        serve(server, "/search", Dispatchers.getIO(), CoroutineService::searches);
        server.start();
        Client client = new Client("http://127.0.0.1:" + server.getAddress().getPort());
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            client.get("/orders");
            client.get("/search");
            run(Dispatchers.getDefault(), CoroutineService::noRequest);
        }
        server.stop(0);
    }
}
