package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import java.util.List;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.internal.process.Endpoint;
import org.glassfish.jersey.server.internal.process.RequestProcessingContext;
import org.glassfish.jersey.uri.UriTemplate;

/** Jersey: the route is known where it hands a request to the method of a resource. */
public final class Jersey {
    private static final int SOURCE = Labels.JERSEY;

    private Jersey() {}

    /** In place of {@code Endpoint.apply}. */
    public static Object apply(Endpoint endpoint, Object context) {
        Object scope = Labels.isOn(SOURCE) ? open(context) : null;
        try {
            return endpoint.apply(context);
        } finally {
            Labels.close(SOURCE, scope);
        }
    }

    private static Object open(Object context) {
        try {
            ContainerRequest request = ((RequestProcessingContext) context).request();
            List<UriTemplate> templates = request.getUriInfo().getMatchedTemplates();
            if (templates.isEmpty()) {
                return null;
            }
            String route = route(request.getBaseUri().getPath(), templates);
            String operation = HttpOperation.of(request.getMethod(), route);
            // That of the server, if it has one: not all are known.
            Labels.refine(SOURCE, operation);
            return Labels.open(SOURCE, operation);
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
            return null;
        }
    }

    /** The templates begin with the innermost one. */
    private static String route(String base, List<UriTemplate> templates) {
        StringBuilder route = new StringBuilder(base);
        for (int i = templates.size() - 1; i >= 0; i--) {
            String template = templates.get(i).getTemplate();
            boolean endsWithSlash = route.length() > 0 && route.charAt(route.length() - 1) == '/';
            if (endsWithSlash) {
                route.setLength(route.length() - 1);
            }
            route.append(template.startsWith("/") ? "" : "/").append(template);
        }
        return route.toString();
    }
}
