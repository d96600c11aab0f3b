package org.apache.coyote.http11;

import org.apache.coyote.Adapter;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.apache.tomcat.util.net.SocketWrapperBase;

/** A connector of a Tomcat whose responses do not say their status. */
public final class Http11Processor {
    private final Adapter adapter = (request, response) -> System.out.println("served");

    public AbstractEndpoint.Handler.SocketState service(SocketWrapperBase socket) throws Exception {
        adapter.service(new Request(), new Response());
        return AbstractEndpoint.Handler.SocketState.CLOSED;
    }
}
