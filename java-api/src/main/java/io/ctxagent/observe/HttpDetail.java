package io.ctxagent.observe;

/**
 * What is known of an HTTP request besides its length and its attributes.
 *
 * <p>Threads: any, as it does not change. Without the agent: there is none.
 *
 * @since 0.1
 */
public final class HttpDetail {
    private final String method;
    private final String route;
    private final int status;
    private final int samples;

    HttpDetail(String operation, int status, int samples) {
        int space = operation.indexOf(' ');
        method = space < 0 ? operation : operation.substring(0, space);
        route = space < 0 ? null : operation.substring(space + 1);
        this.status = status;
        this.samples = samples;
    }

    /**
     * Its method.
     *
     * @return the method, {@code _OTHER} for one that HTTP does not know; not {@code null}
     */
    public String method() {
        return method;
    }

    /**
     * The pattern of its path.
     *
     * @return the route, or {@code null} if none is known
     */
    public String route() {
        return route;
    }

    /**
     * How it was answered.
     *
     * @return the status; 0 if it is not known
     */
    public int status() {
        return status;
    }

    /**
     * Samples that a recording took of the thread while it worked for the request.
     *
     * @return their number
     */
    public int samples() {
        return samples;
    }

    /**
     * Method, route and status, for people.
     *
     * @return the text, not {@code null}
     */
    @Override
    public String toString() {
        return method + (route == null ? "" : " " + route) + " " + status;
    }
}
