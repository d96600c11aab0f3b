package service;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Two servlets of plain Jetty, asked by turns; the argument says how often. */
public class JettyService {
    public static class Orders extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            Work.spin(2_000_000);
            response.getWriter().println(request.getPathInfo());
        }
    }

    public static class Search extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            Work.spin(500_000);
            response.getWriter().println(request.getQueryString());
        }
    }

    public static void main(String[] args) throws Exception {
        Server server = new Server(0);
        ServletContextHandler servlets = new ServletContextHandler();
        servlets.setContextPath("/shop");
        servlets.addServlet(Orders.class, "/orders/*");
        servlets.addServlet(Search.class, "/search");
        server.setHandler(servlets);
        server.start();
        int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        Client client = new Client("http://127.0.0.1:" + port + "/shop");
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            client.get("/orders/" + i);
            client.get("/search?q=" + i);
        }
        server.stop();
    }
}
