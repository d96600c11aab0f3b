package io.ctxagent.spring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time by values of attributes, the largest first. The names are those of {@code ctxjfr report
 * --json}, where it has them.
 */
final class CpuReport {
    private final List<String> keys;
    private final Samples samples;
    private final Sum total = new Sum();

    private CpuReport(List<String> keys, Samples samples) {
        this.keys = keys;
        this.samples = samples;
        samples.groups.values().forEach(total::add);
        total.add(samples.overflow);
    }

    static CpuReport of(Path recording, List<String> keys) throws IOException {
        return new CpuReport(keys, Samples.read(recording, keys));
    }

    /** With at most so many rows. */
    Map<String, Object> json(int limit) {
        List<Map.Entry<List<String>, Sum>> groups = new ArrayList<>(samples.groups.entrySet());
        Comparator<Map.Entry<List<String>, Sum>> byWeight =
                Comparator.comparingLong(group -> -group.getValue().weight());
        groups.sort(byWeight.thenComparing(group -> group.getKey().toString()));
        int shown = Math.min(limit, groups.size());
        Sum rest = new Sum();
        groups.subList(shown, groups.size()).forEach(group -> rest.add(group.getValue()));
        rest.add(samples.overflow);

        Map<String, Object> json = new LinkedHashMap<>();
        json.put("schema", "ctxagent.report.1");
        json.put("by", keys);
        json.put("attributes", samples.attributes());
        json.put("unit", "cpu_ns");
        json.put("interval_ns", samples.intervalNanos());
        json.put("total", sum(total));
        json.put("rows", groups.subList(0, shown).stream().map(this::row).toList());
        json.put("rest", sum(rest));
        json.put("late_labels_left_out", samples.lateLabelsLeftOut());
        return json;
    }

    private Map<String, Object> row(Map.Entry<List<String>, Sum> group) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("values", group.getKey());
        row.putAll(sum(group.getValue()));
        row.put("share", (double) group.getValue().weight() / total.weight());
        return row;
    }

    private Map<String, Object> sum(Sum sum) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("samples", sum.samples());
        json.put("weight", sum.weight());
        json.put("value", sum.weight() * samples.intervalNanos());
        return json;
    }
}
