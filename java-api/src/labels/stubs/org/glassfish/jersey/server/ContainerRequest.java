package org.glassfish.jersey.server;

import java.net.URI;

public class ContainerRequest {
    public ExtendedUriInfo getUriInfo() {
        throw new AssertionError();
    }

    public URI getBaseUri() {
        throw new AssertionError();
    }

    public String getMethod() {
        throw new AssertionError();
    }
}
