package io.netty.handler.codec.http;

public class HttpMethod {
    public String name() {
        return null;
    }
}
