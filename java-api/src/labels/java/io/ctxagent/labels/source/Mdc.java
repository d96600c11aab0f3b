package io.ctxagent.labels.source;

import io.ctxagent.labels.Labels;
import java.util.Map;

/** The diagnostic context of SLF4J and of Log4j, where it changes. */
public final class Mdc {
    private static final int SOURCE = Labels.MDC;

    private Mdc() {}

    public static void put(Object name, Object value) {
        if (Labels.isUsed(SOURCE) && name instanceof String) {
            Labels.put(SOURCE, (String) name, value instanceof String ? (String) value : null);
        }
    }

    public static void remove(Object name) {
        put(name, null);
    }

    public static void clear() {
        replace(null);
    }

    /** Those with a new value are replaced. */
    public static void add(Object values) {
        if (Labels.isUsed(SOURCE) && values instanceof Map) {
            Labels.addAll(SOURCE, (Map<?, ?>) values);
        }
    }

    /** All that was there is replaced. */
    public static void replace(Object values) {
        if (Labels.isUsed(SOURCE)) {
            Labels.putAll(SOURCE, values instanceof Map ? (Map<?, ?>) values : null);
        }
    }
}
