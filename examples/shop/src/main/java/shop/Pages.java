package shop;

import com.sun.net.httpserver.HttpExchange;
import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The endpoints. Each request is labelled in one place, {@link #answer}. */
final class Pages {
    private final Store store;

    Pages(Store store) {
        this.store = store;
    }

    void search(HttpExchange exchange) throws IOException {
        answer(exchange, (tenant, query) -> page("search", store.search(tenant, query)));
    }

    void product(HttpExchange exchange) throws IOException {
        answer(exchange, (tenant, query) -> page("product", store.product(number(query))));
    }

    void checkout(HttpExchange exchange) throws IOException {
        answer(exchange, (tenant, query) -> {
            Map<String, Object> order = store.order(tenant, number(query));
            order.put("receipt", receipt(tenant, order));
            return page("checkout", List.of(order));
        });
    }

    void report(HttpExchange exchange) throws IOException {
        answer(exchange, (tenant, query) -> page("report", store.report(tenant)));
    }

    /** The whole integration with the profiler. */
    private static void answer(HttpExchange exchange, Page page) throws IOException {
        String endpoint = exchange.getHttpContext().getPath();
        String tenant = Store.knownTenant(exchange.getRequestHeaders().getFirst("X-Tenant"));
        try (RecordingContext context = RecordingContext.where("endpoint", endpoint)
                        .where("tenant", tenant)
                        .build();
                exchange) {
            exchange.getRequestBody().readAllBytes();
            byte[] body;
            int status = 200;
            try {
                body = page.render(tenant, exchange.getRequestURI().getQuery())
                        .getBytes(StandardCharsets.UTF_8);
            } catch (SQLException | RuntimeException e) {
                status = 500;
                body = e.toString().getBytes(StandardCharsets.UTF_8);
            }
            exchange.sendResponseHeaders(status, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    /** What an endpoint does. */
    private interface Page {
        String render(String tenant, String query) throws SQLException;
    }

    private static long number(String query) {
        return Long.parseLong(query.substring(query.indexOf('=') + 1));
    }

    /** Signs an order; slow on purpose, as good signatures are. */
    private static String receipt(String tenant, Map<String, Object> order) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] signature = (tenant + new TreeMap<>(order)).getBytes(StandardCharsets.UTF_8);
            for (int round = 0; round < 6_000; round++) {
                signature = digest.digest(signature);
            }
            StringBuilder text = new StringBuilder();
            for (byte b : signature) {
                text.append(Character.forDigit(b >> 4 & 15, 16))
                        .append(Character.forDigit(b & 15, 16));
            }
            return text.toString();
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static String page(String name, List<Map<String, Object>> rows) {
        StringBuilder json = new StringBuilder("{\"page\":\"").append(name).append("\",\"rows\":[");
        String separator = "";
        for (Map<String, Object> row : rows) {
            json.append(separator).append('{');
            String comma = "";
            for (Map.Entry<String, Object> field : row.entrySet()) {
                json.append(comma)
                        .append('"')
                        .append(field.getKey())
                        .append("\":\"")
                        .append(field.getValue())
                        .append('"');
                comma = ",";
            }
            json.append('}');
            separator = ",";
        }
        return json.append("]}").toString();
    }
}
