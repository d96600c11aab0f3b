package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Meters of the agent's health, 0 without an agent, and of the CPU time of each label. */
class CtxagentMetrics implements MeterBinder {
    /** The agent's counters {@code lost.*}; a test compares them. */
    private static final List<String> REASONS =
            List.of("no_slot", "reentry", "late", "filtered", "write");

    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final List<LabelMeters> labels = new CopyOnWriteArrayList<>();

    private Map<String, Double> values = Map.of();
    private long readAtNanos = System.nanoTime() - MAX_AGE_NANOS;

    @Override
    public void bindTo(MeterRegistry registry) {
        labels.add(new LabelMeters(registry, this::value));
        Gauge.builder("ctxagent.recording", this, meters -> meters.value("ctxagent_recording"))
                .description("1 while a recording runs")
                .register(registry);
        FunctionCounter.builder(
                        "ctxagent.samples", this, meters -> meters.value("ctxagent_written_total"))
                .description("CPU samples in the recording")
                .register(registry);
        for (String reason : REASONS) {
            String name = "ctxagent_lost_" + reason + "_total";
            FunctionCounter.builder("ctxagent.samples.lost", this, meters -> meters.value(name))
                    .description("CPU samples that are not in the recording")
                    .tag("reason", reason)
                    .register(registry);
        }
    }

    /** One look at the agent serves all meters of a scrape. */
    private synchronized double value(String name) {
        long now = System.nanoTime();
        if (now - readAtNanos >= MAX_AGE_NANOS) {
            values = read();
            readAtNanos = now;
            labels.forEach(meters -> meters.follow(values.keySet()));
        }
        return values.getOrDefault(name, 0.0);
    }

    private static Map<String, Double> read() {
        Map<String, Double> values = new HashMap<>();
        try {
            for (String line : AgentControl.execute("status,format=prometheus").split("\n")) {
                int space = line.lastIndexOf(' ');
                if (space > 0 && !line.startsWith("#")) {
                    values.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
                }
            }
        } catch (IllegalStateException noAgent) {
            return Map.of();
        }
        return values;
    }
}
