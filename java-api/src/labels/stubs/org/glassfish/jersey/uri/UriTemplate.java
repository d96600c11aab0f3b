package org.glassfish.jersey.uri;

public class UriTemplate {
    public String getTemplate() {
        throw new AssertionError();
    }
}
