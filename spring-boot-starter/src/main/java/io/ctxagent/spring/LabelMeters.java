package io.ctxagent.spring;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The meters of the labels that the agent knows, which bounds their number, in one registry. */
class LabelMeters {
    private static final Pattern LABEL = Pattern.compile(
            "ctxagent_label_cpu_seconds_total\\{attribute=\"(.*?)\",value=\"(.*)\"}");

    private final MeterRegistry registry;
    private final ToDoubleFunction<String> values;
    /** By the name of the agent's metric. */
    private final Map<String, Meter> known = new HashMap<>();

    /** {@code values}: the value of a metric of the agent. */
    LabelMeters(MeterRegistry registry, ToDoubleFunction<String> values) {
        this.registry = registry;
        this.values = values;
    }

    /** Has the labels among these metrics from now on, and none of an earlier recording. */
    void follow(Set<String> metrics) {
        known.entrySet().removeIf(meter -> {
            boolean isGone = !metrics.contains(meter.getKey());
            if (isGone) {
                registry.remove(meter.getValue());
            }
            return isGone;
        });
        metrics.forEach(metric -> known.computeIfAbsent(metric, this::added));
    }

    /** {@code null} if the metric is another one. */
    private Meter added(String metric) {
        Matcher label = LABEL.matcher(metric);
        if (!label.matches()) {
            return null;
        }
        return FunctionCounter.builder(
                        "ctxagent.label.cpu", values, all -> all.applyAsDouble(metric))
                .description("CPU time of the samples with this label")
                .baseUnit("seconds")
                .tag("attribute", label.group(1))
                .tag("value", label.group(2).replaceAll("\\\\(.)", "$1"))
                .register(registry);
    }
}
