import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server of the JDK that does not know the agent: two routes that burn CPU, and clients that ask
 * for them. First argument: how many requests; second: {@code virtual} or {@code platform};
 * with a third one it waits until the agent is attached, and in the end until it has stopped.
 */
public class Served {
    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/orders", Served::orders);
        server.createContext("/search", Served::search);
        Executor threads = args[1].equals("virtual")
                ? task -> Threads.startVirtual(task::run)
                : Executors.newFixedThreadPool(4);
        server.setExecutor(threads);
        server.start();
        String base = "http://127.0.0.1:" + server.getAddress().getPort();
        boolean isAttached = args.length > 2;
        if (isAttached) {
            get(base + "/orders/0");
            System.out.println("ready");
            Threads.awaitFile("attached");
        }
        for (int i = 0; i < requests; i++) {
            get(base + "/orders/" + i);
            get(base + "/search?q=" + i);
        }
        if (isAttached) {
            System.out.println("served");
            Threads.awaitFile("stopped");
        }
        server.stop(0);
        if (threads instanceof ExecutorService) {
            ((ExecutorService) threads).shutdown();
        }
        System.out.println("SERVED-DONE");
    }

    private static void orders(HttpExchange exchange) throws IOException {
        Work.spin(2_000_000);
        answer(exchange);
    }

    private static void search(HttpExchange exchange) throws IOException {
        Work.spin(500_000);
        answer(exchange);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        byte[] answer = exchange.getRequestURI().toString().getBytes();
        exchange.sendResponseHeaders(200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    private static void get(String address) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.getInputStream().readAllBytes();
        connection.disconnect();
    }
}
