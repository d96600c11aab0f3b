package org.springframework.web.reactive;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

public interface HandlerAdapter {
    Mono<?> handle(ServerWebExchange exchange, Object handler);
}
