package io.netty.handler.codec.http;

public interface HttpRequest {
    HttpMethod method();
}
