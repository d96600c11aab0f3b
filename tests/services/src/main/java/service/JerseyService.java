package service;

import com.sun.net.httpserver.HttpServer;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;

/**
 * Resources of Jersey in the server of the JDK, asked by turns, and paths that are not there; the
 * argument says how often.
 */
public class JerseyService {
    @Path("/orders")
    public static class Orders {
        @GET
        @Path("{id}")
        public String order(@PathParam("id") String id) {
            Work.spin(4_000_000);
            return id;
        }

        @Path("{id}/items")
        public Items items() {
            return new Items();
        }
    }

    public static class Items {
        @GET
        @Path("/{item}")
        public String item(@PathParam("item") String item) {
            Work.spin(4_000_000);
            return item;
        }
    }

    public static void main(String[] args) {
        URI base = URI.create("http://127.0.0.1:0/shop/");
        HttpServer server =
                JdkHttpServerFactory.createHttpServer(base, new ResourceConfig(Orders.class));
        Client client = new Client("http://127.0.0.1:" + server.getAddress().getPort() + "/shop");
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            client.get("/orders/" + i);
            client.get("/orders/" + i + "/items/" + i);
            client.get("/scan/" + i);
        }
        server.stop(0);
        ((ExecutorService) server.getExecutor()).shutdown();
    }
}
