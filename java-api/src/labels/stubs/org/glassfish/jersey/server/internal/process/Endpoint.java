package org.glassfish.jersey.server.internal.process;

public interface Endpoint {
    Object apply(Object context);
}
