package service;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.reactive.server.ReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Spring WebFlux on Reactor Netty, with each way in which the work of a request gets to another
 * thread. Needs {@code --spring.main.web-application-type=reactive}. The first argument says how
 * often it asks itself, by so many clients at a time.
 */
@EnableAutoConfiguration
@RestController
public class WebFluxService {
    private static final int CLIENTS = 4;
    private static final int EARLY_CALLS = 20;

    /** Enough that each method has many samples on a busy machine, too. */
    private static final int ROUNDS = 1_000_000;

    private static final AtomicInteger calls = new AtomicInteger();

    /** Tomcat is on the class path, too. */
    @Bean
    ReactiveWebServerFactory server() {
        return new NettyReactiveWebServerFactory(0);
    }

    /** On the event loop. */
    @GetMapping("/orders/{id}")
    Mono<String> order(@PathVariable("id") String id) {
        orders();
        return Mono.just(id);
    }

    /** On a timer's thread. */
    @GetMapping("/delayed/{id}")
    Mono<String> delay(@PathVariable("id") String id) {
        return Mono.delay(Duration.ofMillis(2)).map(tick -> {
            delayed();
            return id;
        });
    }

    /** On a thread that may block, and back on the event loop. */
    @GetMapping("/blocking/{id}")
    Mono<String> block(@PathVariable("id") String id) {
        return Mono.fromCallable(() -> {
                    blocking();
                    return id;
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** When another service has answered. */
    @GetMapping("/calling/{id}")
    Mono<String> call(@PathVariable("id") String id, ServerWebExchange exchange) {
        String self =
                "http://127.0.0.1:" + exchange.getRequest().getLocalAddress().getPort();
        Mono<String> answer =
                WebClient.create(self).get().uri("/orders/1").retrieve().bodyToMono(String.class);
        return answer.map(text -> {
            // The first answer on a connection has no label, and early ones take long.
            if (calls.incrementAndGet() > EARLY_CALLS) {
                calling();
            }
            return text + id;
        });
    }

    /** When the body of the request has come. */
    @PostMapping("/posted")
    Mono<String> post(@RequestBody Mono<String> body) {
        return body.map(text -> {
            posted();
            return text;
        });
    }

    private static void orders() {
        Work.spin(500_000);
    }

    private static void delayed() {
        Work.spin(ROUNDS);
    }

    private static void blocking() {
        Work.spin(ROUNDS);
    }

    private static void calling() {
        Work.spin(1_500_000);
    }

    private static void posted() {
        Work.spin(ROUNDS);
    }

    public static void main(String[] args) throws Exception {
        // It would wait ten seconds for connections that its client keeps.
        System.setProperty("server.shutdown", "immediate");
        try (var context = SpringApplication.run(WebFluxService.class, args)) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
            int requests = Integer.parseInt(args[0]);
            Thread[] clients = new Thread[CLIENTS];
            for (int i = 0; i < CLIENTS; i++) {
                clients[i] = new Thread(() -> ask(port, requests));
                clients[i].start();
            }
            for (Thread client : clients) {
                client.join();
            }
        }
        System.out.println("SERVED-DONE");
    }

    private static void ask(int port, int requests) {
        Client client = new Client("http://127.0.0.1:" + port);
        for (int i = 0; i < requests; i++) {
            client.get("/orders/" + i);
            client.get("/delayed/" + i);
            client.get("/blocking/" + i);
            client.get("/calling/" + i);
            client.post("/posted", "x".repeat(20_000));
        }
    }
}
