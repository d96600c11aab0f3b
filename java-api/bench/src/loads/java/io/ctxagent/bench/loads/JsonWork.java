package io.ctxagent.bench.loads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Jackson: a document of some kilobytes is read into maps and lists, and written again. */
final class JsonWork implements Work {
    private final ObjectMapper mapper = new ObjectMapper();
    private final String document;

    JsonWork() throws JsonProcessingException {
        List<Map<String, Object>> orders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Map<String, Object> order = new LinkedHashMap<>();
            order.put("id", i);
            order.put("customer", "customer " + i * 31);
            order.put("open", i % 3 == 0);
            order.put("amounts", List.of(i * 1.5, i * 2.25, i * 3.125));
            orders.add(order);
        }
        document = mapper.writeValueAsString(Map.of("orders", orders));
    }

    @Override
    public long once() throws JsonProcessingException {
        Map<?, ?> tree = mapper.readValue(document, Map.class);
        return mapper.writeValueAsString(tree).length();
    }
}
