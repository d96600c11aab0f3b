import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * A shop under load, of which the JDK records events. In the scope of an operation each stack has
 * the method of that name, outside of it none has one.
 */
final class JdkShop {
    private static final int CLIENTS = 6;
    private static final String[] PATHS = {"/browse", "/buy", "/pay", "/unlabelled"};
    private static final Object STOCK = new Object();

    private final InetSocketAddress backend;
    private final long nanos;

    private JdkShop(InetSocketAddress backend, long nanos) {
        this.backend = backend;
        this.nanos = nanos;
    }

    /** {@code backend}: answers one byte with another; {@code nanos}: a part of what one takes. */
    static void serve(boolean virtual, InetSocketAddress backend, long nanos) throws Exception {
        JdkShop shop = new JdkShop(backend, nanos);
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(task -> Threads.start(virtual, "worker", task::run));
        server.createContext("/", shop::answer);
        server.start();
        try {
            Threads.join(Threads.start(false, CLIENTS, "client", i -> {
                for (int round = 0; round < PATHS.length; round++) {
                    request(server.getAddress(), PATHS[(i + round) % PATHS.length]);
                }
            }));
        } finally {
            server.stop(0);
        }
    }

    private static void request(InetSocketAddress shop, String path) {
        try (Socket socket = new Socket(shop.getAddress(), shop.getPort())) {
            socket.getOutputStream().write(("GET " + path + " HTTP/1.0\r\n\r\n").getBytes());
            if (!new String(socket.getInputStream().readAllBytes()).startsWith("HTTP/1.1 200 ")) {
                throw new IllegalStateException(path);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String operation = "shop " + path.substring(1);
        switch (path) {
            case "/browse":
                try (RecordingContext c =
                        RecordingContext.where("operation", operation).build()) {
                    browse();
                }
                break;
            case "/buy":
                try (RecordingContext c =
                        RecordingContext.where("operation", operation).build()) {
                    buy();
                }
                break;
            case "/pay":
                try (RecordingContext c =
                        RecordingContext.where("operation", operation).build()) {
                    pay();
                }
                break;
            default:
                work();
        }
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private void browse() throws IOException {
        work();
    }

    private void buy() throws IOException {
        work();
    }

    private void pay() throws IOException {
        work();
    }

    /** Begins and ends with a wait, so that short events lie well inside of the scope. */
    private void work() throws IOException {
        LockSupport.parkNanos(nanos);
        try (RecordingContext step = RecordingContext.where("step", "order").build()) {
            store();
        }
        try (Socket socket = new Socket(backend.getAddress(), backend.getPort())) {
            JdkEvents.ask(socket);
        }
        synchronized (STOCK) {
            LockSupport.parkNanos(nanos);
        }
        LockSupport.parkNanos(nanos);
    }

    private static void store() throws IOException {
        try (FileChannel file = FileChannel.open(
                Path.of("orders"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[100]), 0);
            file.force(false);
            file.read(ByteBuffer.allocate(100), 0);
        }
    }
}
