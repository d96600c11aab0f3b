package org.springframework.http;

public final class HttpMethod {
    public String name() {
        return null;
    }
}
