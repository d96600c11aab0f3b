package io.ctxagent.labels.source;

import io.ctxagent.labels.HttpOperation;
import io.ctxagent.labels.Labels;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationView;
import java.lang.reflect.Field;
import java.util.Locale;

/**
 * Micrometer's observations, where a thread gets another current one: by a scope, or by what
 * carries scopes to other threads. What no server has labelled yet is named by the outermost
 * observation, as a job is or a listener.
 */
public final class Observations {
    private static final int SOURCE = Labels.OBSERVATION;
    /** Observations in one another; more are a mistake of whoever made them. */
    private static final int MAX_DEPTH = 100;
    /** What a server has observed: the name that follows is its method and route. */
    private static final String HTTP_SERVER = "http.server.requests";

    private static final String HTTP = "http ";

    private static final Field CONVENTION = conventionField();
    /** What the current observation of a thread has opened. */
    private static final ThreadLocal<Opened> current = new ThreadLocal<>();

    private Observations() {}

    /** In place of {@code ThreadLocal.set}. */
    public static void set(ThreadLocal<Object> storage, Object scope) {
        storage.set(scope);
        if (Labels.isUsed(SOURCE)) {
            try {
                tell(scope);
            } catch (Throwable failure) {
                Labels.failed(SOURCE, failure);
            }
        }
    }

    private static void tell(Object scope) {
        boolean isObserved = Labels.isOn(SOURCE) && scope instanceof Observation.Scope;
        ObservationView outermost = isObserved ? outermost((Observation.Scope) scope) : null;
        Opened known = current.get();
        if (known != null && known.observation != outermost) {
            current.remove();
            Labels.close(SOURCE, known.scope);
            known = null;
        }
        if (known == null && outermost != null && !Labels.hasOperation(SOURCE)) {
            Object opened = Labels.open(SOURCE, operation(outermost));
            if (opened != null) {
                current.set(new Opened(outermost, opened));
            }
        }
    }

    private static ObservationView outermost(Observation.Scope scope) {
        ObservationView observation = scope.getCurrentObservation();
        for (int depth = 0; observation != null && depth < MAX_DEPTH; depth++) {
            ObservationView parent = observation.getContextView().getParentObservation();
            if (parent == null) {
                return observation;
            }
            observation = parent;
        }
        return null;
    }

    private static String operation(ObservationView observation) {
        Observation.ContextView context = observation.getContextView();
        String name = context.getName();
        String contextual = context.getContextualName();
        if (contextual == null) {
            contextual = byConvention(observation, context);
        }
        boolean isHttp = HTTP_SERVER.equals(name) && contextual != null;
        if (isHttp && contextual.startsWith(HTTP)) {
            String[] words = contextual.substring(HTTP.length()).split(" ", 2);
            return HttpOperation.of(
                    words[0].toUpperCase(Locale.ROOT), words.length > 1 ? words[1] : null);
        }
        return contextual == null || contextual.isEmpty() ? name : contextual;
    }

    /** What is asked for the name at the end only. It may need what is not there yet. */
    @SuppressWarnings("unchecked")
    private static String byConvention(ObservationView observation, Observation.ContextView view) {
        try {
            Object convention = CONVENTION == null ? null : CONVENTION.get(observation);
            return convention == null
                    ? null
                    : ((ObservationConvention<Observation.Context>) convention)
                            .getContextualName((Observation.Context) view);
        } catch (IllegalAccessException | RuntimeException unknown) {
            return null;
        }
    }

    /** {@code null}: this version has none. */
    private static Field conventionField() {
        try {
            ClassLoader loader = Observations.class.getClassLoader();
            Class<?> type =
                    Class.forName("io.micrometer.observation.SimpleObservation", false, loader);
            Field field = type.getDeclaredField("convention");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            return null;
        }
    }

    /** The scope that an observation has opened on a thread. */
    private static final class Opened {
        private final ObservationView observation;
        private final Object scope;

        Opened(ObservationView observation, Object scope) {
            this.observation = observation;
            this.scope = scope;
        }
    }
}
