package starter;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * A service that does not know the agent. It asks itself for what the words among its arguments
 * say, in their order, and prints the answers: {@code work} is many requests, {@code dump}
 * downloads to {@code dump.bin}, others are paths below {@code /actuator}; those of two parts that
 * begin with {@code ctxagent} are commands, but for a report.
 */
@EnableAutoConfiguration
@RestController
public class Orders {
    private static final int REQUESTS = 150;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @GetMapping("/orders/{id}")
    String order(@PathVariable("id") String id) {
        long end = System.nanoTime() + 2_000_000;
        long sum = 0;
        while (System.nanoTime() < end) {
            sum = sum * 31 + id.hashCode();
        }
        return Long.toString(sum);
    }

    public static void main(String[] args) throws Exception {
        try (var context = SpringApplication.run(Orders.class, args)) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
            String base = "http://127.0.0.1:" + port;
            for (String word : args) {
                if (!word.startsWith("--")) {
                    perform(base, word);
                }
            }
        }
    }

    private static void perform(String base, String word) throws Exception {
        if (word.equals("work")) {
            for (int i = 0; i < REQUESTS; i++) {
                text(HttpRequest.newBuilder(URI.create(base + "/orders/" + i)).build());
            }
        } else if (word.equals("dump")) {
            URI uri = URI.create(base + "/actuator/ctxagent/dump");
            HttpResponse<Path> answer = CLIENT.send(
                    HttpRequest.newBuilder(uri).build(), BodyHandlers.ofFile(Path.of("dump.bin")));
            System.out.println("dump: " + answer.statusCode());
        } else {
            boolean isCommand = word.startsWith("ctxagent/") && !word.startsWith("ctxagent/report");
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(URI.create(base + "/actuator/" + word));
            if (isCommand) {
                request.POST(BodyPublishers.noBody()).header("Content-Type", "application/json");
            }
            HttpResponse<String> answer = text(request.build());
            System.out.println(word + ": " + answer.statusCode() + " " + answer.body());
        }
    }

    private static HttpResponse<String> text(HttpRequest request)
            throws IOException, InterruptedException {
        return CLIENT.send(request, BodyHandlers.ofString());
    }
}
