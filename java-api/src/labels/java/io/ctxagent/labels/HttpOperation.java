package io.ctxagent.labels;

/** Names of HTTP operations, of which there are as many as an application has routes. */
public final class HttpOperation {
    /** A request of which nothing is known yet. */
    public static final String UNKNOWN = "HTTP";

    private HttpOperation() {}

    /**
     * {@code "GET /orders/{id}"}; the method alone if the route is not known. Clients can invent
     * methods, so an unknown one is {@code "_OTHER"}, as OpenTelemetry has it.
     */
    public static String of(String method, String route) {
        String known = known(method);
        return route == null || route.isEmpty() ? known : known + ' ' + route;
    }

    /**
     * The route of a servlet by the path of its application, which may be {@code null}, and its
     * pattern; {@code null} if that is one for all requests.
     */
    public static String routeOfServlet(String application, String pattern) {
        if (pattern == null || pattern.isEmpty() || pattern.equals("/") || pattern.equals("/*")) {
            return null;
        }
        String path = pattern.startsWith("/") ? pattern : '/' + pattern;
        return application == null ? path : application + path;
    }

    /**
     * Whether a servlet container runs what the client asked for, by its {@code DispatcherType};
     * else it is the page of an error, or another one that the first has chosen.
     */
    public static boolean isAskedFor(Enum<?> dispatcherType) {
        String type = dispatcherType == null ? "REQUEST" : dispatcherType.name();
        return type.equals("REQUEST") || type.equals("ASYNC");
    }

    private static String known(String method) {
        switch (method == null ? "" : method) {
            case "GET":
            case "HEAD":
            case "POST":
            case "PUT":
            case "DELETE":
            case "CONNECT":
            case "OPTIONS":
            case "TRACE":
            case "PATCH":
                return method;
            default:
                return "_OTHER";
        }
    }
}
