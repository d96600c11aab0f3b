import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ctxagent.RecordingContext;
import io.ctxagent.RecordingContextKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An HTTP server and its clients on virtual threads, with streams, futures, recursion and
 * continuations within that of the thread, which need an export of the JDK: {@code
 * CLIENTS MILLIS}. After each wait it computes in {@code compute}, under a label that names the
 * call chain as {@code Thread.getStackTrace} tells it. Prints {@code LABEL FRAME...} of each chain.
 */
public final class Chains {
    private static final RecordingContextKey CHAIN = RecordingContextKey.forName("chain");
    private static final ConcurrentMap<String, String> LABELS = new ConcurrentHashMap<>();
    private static final AtomicInteger LAST_LABEL = new AtomicInteger();
    private static final Executor VIRTUAL = task -> Threads.startVirtual(task::run);
    private static final Semaphore PERMITS = new Semaphore(2);
    private static final Object SCOPE;
    private static final Constructor<?> NEW_CONTINUATION;
    private static final Method IS_DONE;
    private static final Method RUN;
    private static final Method YIELD;

    static {
        try {
            Class<?> scope = Class.forName("jdk.internal.vm.ContinuationScope");
            Class<?> type = Class.forName("jdk.internal.vm.Continuation");
            SCOPE = scope.getConstructor(String.class).newInstance("within");
            NEW_CONTINUATION = type.getConstructor(scope, Runnable.class);
            IS_DONE = type.getMethod("isDone");
            RUN = type.getMethod("run");
            YIELD = type.getMethod("yield", scope);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final byte[][] KEPT = new byte[1024][];
    private static final int DEEPEST = 40;
    private static Cpu budget;

    public static void main(String[] args) throws Exception {
        InetAddress local = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(local, 0), 100);
        server.setExecutor(VIRTUAL);
        server.createContext("/", Chains::answer);
        server.start();
        budget = Cpu.ofProcess(Long.parseLong(args[1]));
        int port = server.getAddress().getPort();
        int clients = Integer.parseInt(args[0]);
        Threads.join(Threads.start(true, clients, "client", number -> ask(local, port, number)));
        LABELS.forEach((chain, label) -> System.out.println(label + chain));
        System.exit(0);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        PERMITS.acquireUninterruptibly();
        try {
            pause();
            compute();
        } finally {
            PERMITS.release();
        }
        Stream<Integer> numbers = Stream.iterate(0, number -> number + 1).limit(20);
        String body = numbers.map(Chains::square).sorted().collect(Collectors.joining(","));
        compute();
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length);
        try (OutputStream output = exchange.getResponseBody()) {
            output.write(bytes);
        }
        compute();
    }

    private static String square(int number) {
        if (number % 10 == 5) {
            pause();
            compute();
        }
        return Integer.toString(number * number);
    }

    private static void ask(InetAddress address, int port, int first) throws Exception {
        for (int round = first; budget.isLeft(); round++) {
            try (Socket socket = new Socket(address, port)) {
                OutputStream output = socket.getOutputStream();
                output.write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                readAll(socket.getInputStream(), round % DEEPEST);
            }
            CompletableFuture<Integer> future = new CompletableFuture<>();
            future.completeOnTimeout(round, 200, TimeUnit.MICROSECONDS);
            future.get();
            CompletableFuture.runAsync(Chains::compute, VIRTUAL)
                    .thenRunAsync(Chains::compute, VIRTUAL)
                    .get();
            compute();
            Map<Integer, Integer> sums = new ConcurrentHashMap<>();
            for (int key : List.of(1, 2, 1)) {
                sums.merge(key, 1, Chains::sum);
            }
            runWithin(() -> readAll(InputStream.nullInputStream(), 10));
            runWithin(Chains::yieldTwice);
        }
    }

    /** Blocks at the end of a recursion, and computes on the way back. */
    private static void readAll(InputStream input, int calls) {
        if (calls > 0) {
            readAll(input, calls - 1);
        } else {
            try {
                input.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        if (calls % 5 == 0) {
            compute();
        }
    }

    /** Runs the task in a continuation within that of the virtual thread. */
    private static void runWithin(Runnable task) throws ReflectiveOperationException {
        Object continuation = NEW_CONTINUATION.newInstance(SCOPE, task);
        while (!(boolean) IS_DONE.invoke(continuation)) {
            RUN.invoke(continuation);
            compute();
        }
    }

    private static void yieldTwice() {
        for (int i = 0; i < 2; i++) {
            try {
                YIELD.invoke(null, SCOPE);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            compute();
            pause();
            compute();
        }
    }

    private static int sum(int one, int other) {
        compute();
        return one + other;
    }

    private static void pause() {
        LockSupport.parkNanos(100_000);
    }

    /** Allocates, so that the collector moves the stack chunks. */
    private static void compute() {
        StackTraceElement[] trace = Thread.currentThread().getStackTrace();
        String chain = Arrays.stream(trace)
                .skip(2) // getStackTrace and this method
                .map(Chains::name)
                .collect(Collectors.joining());
        String label =
                LABELS.computeIfAbsent(chain, c -> Integer.toString(LAST_LABEL.incrementAndGet()));
        try (RecordingContext context = RecordingContext.where(CHAIN, label).build()) {
            KEPT[chain.hashCode() & 1023] = new byte[16_384];
            Work.spin(5_000);
        }
    }

    private static String name(StackTraceElement frame) {
        String method = frame.getClassName() + "." + frame.getMethodName();
        return " " + method + ":" + Math.max(frame.getLineNumber(), 0);
    }
}
