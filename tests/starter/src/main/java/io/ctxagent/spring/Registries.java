package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Two registries, the second one bound when labels are there already, and two recordings with one
 * label each. Prints the labels of both registries once they are what they should be, or after ten
 * seconds.
 */
public final class Registries {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    public static void main(String[] args) throws InterruptedException {
        CtxagentMetrics metrics = new CtxagentMetrics();
        MeterRegistry early = new SimpleMeterRegistry();
        metrics.bindTo(early);
        record("acme");
        print("early", early, "acme");
        MeterRegistry late = new SimpleMeterRegistry();
        metrics.bindTo(late);
        print("late", late, "acme");
        AgentControl.execute("stop");
        record("glo \"b\\ex");
        print("early", early, "glo \"b\\ex");
        print("late", late, "glo \"b\\ex");
    }

    private static void record(String tenant) {
        AgentControl.execute("start,interval=1ms,labels=none,file=%p.jfr,overwrite");
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
        try (RecordingContext context = RecordingContext.where("tenant", tenant).build()) {
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        }
    }

    private static void print(String name, MeterRegistry registry, String wanted)
            throws InterruptedException {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!labels(registry).equals(Set.of(wanted)) && System.nanoTime() < end) {
            registry.get("ctxagent.recording").gauge().value(); // as a scrape does
            Thread.sleep(50);
        }
        System.out.println(name + ": " + labels(registry));
    }

    private static Set<String> labels(MeterRegistry registry) {
        return registry.find("ctxagent.label.cpu").meters().stream()
                .map(Meter::getId)
                .map(id -> id.getTag("value"))
                .collect(Collectors.toSet());
    }
}
