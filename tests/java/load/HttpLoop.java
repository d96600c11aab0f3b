import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

/** The JDK's HTTP client calls its server, for {@code args[0]} milliseconds of CPU time. */
public final class HttpLoop {
    public static void main(String[] args) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        InetAddress here = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(here, 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write(new byte[100]);
            exchange.close();
        });
        server.start();
        URI uri = new URI(
                "http",
                null,
                here.getHostAddress(),
                server.getAddress().getPort(),
                "/",
                null,
                null);
        HttpClient client = HttpClient.newHttpClient();
        Cpu budget = Cpu.ofProcess(Long.parseLong(args[0]));
        while (budget.isLeft()) {
            client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofByteArray());
        }
        System.exit(0);
    }
}
