package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.ModelAndView;

/**
 * Spring MVC from 5 on: the route is known once the handler is found. The server's scope gets it.
 */
public final class SpringMvc {
    private static final int SOURCE = Labels.SPRING;
    /** {@code HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE}. */
    private static final String PATTERN =
            "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern";

    private SpringMvc() {}

    public static ModelAndView handle(
            HandlerAdapter adapter,
            HttpServletRequest request,
            HttpServletResponse response,
            Object handler)
            throws Exception {
        if (Labels.isOn(SOURCE)) {
            refine(request);
        }
        return adapter.handle(request, response, handler);
    }

    private static void refine(HttpServletRequest request) {
        try {
            Object pattern = request.getAttribute(PATTERN);
            if (pattern != null && HttpOperation.isAskedFor(request.getDispatcherType())) {
                String application = request.getContextPath();
                String route = application == null ? "" + pattern : application + pattern;
                Labels.refine(SOURCE, HttpOperation.of(request.getMethod(), route));
            }
        } catch (Throwable failure) {
            Labels.failed(SOURCE, failure);
        }
    }
}
