package service;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/**
 * Requests with spans in spans, of OpenTelemetry's SDK. Prints for each span its id, its trace, and
 * which of two methods works in it. Arguments: requests; {@code virtual} or {@code platform}.
 */
public class TracedService {
    private static final int DEPTH = 9;
    private static final Tracer TRACER = SdkTracerProvider.builder().build().get("test");
    private static final ConcurrentLinkedQueue<String> spans = new ConcurrentLinkedQueue<>();

    private static void even(int depth) {
        Span span = start("even");
        try (Scope scope = span.makeCurrent()) {
            workInEven();
            if (depth > 0) {
                odd(depth - 1);
            }
            workInEven();
        } finally {
            span.end();
        }
    }

    private static void odd(int depth) {
        Span span = start("odd");
        try (Scope scope = span.makeCurrent()) {
            workInOdd();
            if (depth > 0) {
                even(depth - 1);
            }
            workInOdd();
        } finally {
            span.end();
        }
    }

    private static Span start(String name) {
        Span span = TRACER.spanBuilder(name).startSpan();
        SpanContext ids = span.getSpanContext();
        spans.add("span " + ids.getSpanId() + ' ' + ids.getTraceId() + ' ' + name);
        return span;
    }

    private static void workInEven() {
        Work.spin(100_000);
    }

    private static void workInOdd() {
        Work.spin(100_000);
    }

    private static void workInNone() {
        Work.spin(100_000);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService threads = Threads.of(args[1]);
        List<Future<?>> requests = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            requests.add(threads.submit(() -> {
                even(DEPTH);
                workInNone();
            }));
        }
        for (Future<?> request : requests) {
            request.get();
        }
        threads.shutdown();
        spans.forEach(System.out::println);
    }
}
