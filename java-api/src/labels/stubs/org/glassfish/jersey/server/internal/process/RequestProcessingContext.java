package org.glassfish.jersey.server.internal.process;

import org.glassfish.jersey.server.ContainerRequest;

public final class RequestProcessingContext {
    public ContainerRequest request() {
        throw new AssertionError();
    }
}
