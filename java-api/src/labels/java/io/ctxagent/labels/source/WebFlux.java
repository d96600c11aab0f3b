package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Spring WebFlux from 6 on: the route is known once the handler is found. The server's scope gets
 * it.
 */
public final class WebFlux {
    private static final int SOURCE = Labels.WEBFLUX;
    /** {@code HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE}. */
    private static final String PATTERN =
            "org.springframework.web.reactive.HandlerMapping.bestMatchingPattern";

    private WebFlux() {}

    public static Mono<?> handle(
            HandlerAdapter adapter, ServerWebExchange exchange, Object handler) {
        if (Labels.isOn(SOURCE)) {
            refine(exchange);
        }
        return adapter.handle(exchange, handler);
    }

    private static void refine(ServerWebExchange exchange) {
        try {
            Object pattern = exchange.getAttributes().get(PATTERN);
            if (pattern != null) {
                String method = exchange.getRequest().getMethod().name();
                Labels.refine(SOURCE, HttpOperation.of(method, pattern.toString()));
            }
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }
}
