package service;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Spring MVC on Tomcat. Asks itself for two routes and for paths that are not there; the argument
 * says how often.
 */
@EnableAutoConfiguration
@RestController
public class SpringService {
    @GetMapping("/orders/{id}")
    String order(@PathVariable("id") String id) {
        orders();
        return id;
    }

    @GetMapping("/search")
    String search(@RequestParam("q") String text) {
        searches();
        return text;
    }

    /** Next to no work, for {@link LabelCosts}. */
    @GetMapping("/light/{id}")
    String light(@PathVariable("id") String id) {
        return id;
    }

    /** The page of the error is another route of this service. */
    @GetMapping("/failing/{id}")
    String fail() {
        failing();
        throw new ResponseStatusException(HttpStatus.CONFLICT);
    }

    /** What a service does before it knows the route. */
    @Bean
    Filter authentication() {
        return (request, response, chain) -> {
            String path = ((HttpServletRequest) request).getRequestURI();
            if (path.startsWith("/orders/")) {
                beforeOrders();
            } else if (path.startsWith("/failing/")) {
                beforeFailing();
            }
            chain.doFilter(request, response);
        };
    }

    private static void beforeOrders() {
        Work.spin(500_000);
    }

    private static void beforeFailing() {
        Work.spin(500_000);
    }

    private static void orders() {
        Work.spin(2_000_000);
    }

    private static void failing() {
        Work.spin(1_500_000);
    }

    private static void searches() {
        Work.spin(1_500_000);
    }

    public static void main(String[] args) throws Exception {
        try (var context = SpringApplication.run(SpringService.class, args)) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
            Client client = new Client("http://127.0.0.1:" + port);
            int requests = Integer.parseInt(args[0]);
            for (int i = 0; i < requests; i++) {
                client.get("/orders/" + i);
                client.get("/search?q=" + i);
                client.get("/failing/" + i);
                client.get("/scan/" + i + "/passwd");
            }
        }
        System.out.println("SERVED-DONE");
    }
}
