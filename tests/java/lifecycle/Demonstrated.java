import com.sun.net.httpserver.HttpServer;
import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;

/**
 * The {@code app.jar} of the pages: work for two endpoints and two tenants, and for a request of a
 * server; then the end of the recording, if there is one.
 */
public final class Demonstrated {
    private static final String[] ENDPOINTS = {"/report", "/search"};
    private static final String[] TENANTS = {"acme", "globex"};

    public static void main(String[] args) throws IOException {
        Cpu budget = Cpu.ofThisThread(1000);
        for (int round = 0; budget.isLeft(); round++) {
            String endpoint = ENDPOINTS[round % 2];
            try (RecordingContext context = RecordingContext.where("endpoint", endpoint)
                    .where("tenant", TENANTS[round % 2])
                    .build()) {
                Work.spin(1_000_000);
            }
        }
        serveRequest();
        try {
            AgentControl.execute("stop");
        } catch (IllegalStateException noRecording) {
            System.out.println(noRecording.getMessage());
        }
    }

    private static void serveRequest() throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(here, 0), 0);
        server.createContext("/order", exchange -> {
            Cpu.ofThisThread(300).burn();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        int port = server.getAddress().getPort();
        URI order = URI.create("http://" + here.getHostAddress() + ":" + port + "/order");
        order.toURL().openStream().close();
        server.stop(0);
    }
}
