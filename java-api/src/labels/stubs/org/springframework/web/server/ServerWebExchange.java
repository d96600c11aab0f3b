package org.springframework.web.server;

import java.util.Map;
import org.springframework.http.server.reactive.ServerHttpRequest;

public interface ServerWebExchange {
    ServerHttpRequest getRequest();

    Map<String, Object> getAttributes();
}
