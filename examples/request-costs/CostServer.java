import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.RequestCosts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server whose responses tell what they have cost; it asks itself, and prints that. */
public final class CostServer {
    private interface Work {
        String answer() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        server.setExecutor(threads);
        server.createContext("/sum", exchange -> handle(exchange, "/sum", CostServer::sum));
        server.createContext("/wait", exchange -> handle(exchange, "/wait", CostServer::sleep));
        server.start();
        HttpClient client = HttpClient.newHttpClient();
        for (String endpoint : new String[] {"/sum", "/wait"}) {
            URI uri = new URI("http://localhost:" + server.getAddress().getPort() + endpoint);
            var response =
                    client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
            String costs = response.headers().firstValue("Server-Timing").orElseThrow();
            System.out.println(endpoint + " " + costs);
        }
        server.stop(0);
        threads.shutdown();
    }

    private static void handle(HttpExchange exchange, String endpoint, Work work)
            throws IOException {
        try (RecordingContext c = RecordingContext.where("endpoint", endpoint).build()) {
            RequestCosts begun = RequestCosts.begin();
            byte[] answer = work.answer().getBytes();
            exchange.getResponseHeaders().set("Server-Timing", begun.soFar().serverTiming());
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        } catch (Exception e) {
            throw new IOException(e);
        } finally {
            exchange.close();
        }
    }

    private static String sum() {
        double sum = 0;
        for (int i = 1; i < 20_000_000; i++) {
            sum += 1.0 / i;
        }
        return String.valueOf(sum);
    }

    private static String sleep() throws InterruptedException {
        Thread.sleep(50);
        return "waited";
    }
}
