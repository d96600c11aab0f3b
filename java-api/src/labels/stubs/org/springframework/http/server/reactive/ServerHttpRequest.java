package org.springframework.http.server.reactive;

import org.springframework.http.HttpMethod;

public interface ServerHttpRequest {
    HttpMethod getMethod();
}
