package service;

import io.opentelemetry.api.GlobalOpenTelemetry;
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
 * Requests with spans in spans, of OpenTelemetry's SDK, or of a Java agent if there is one. Prints
 * for each span its id, its trace, which of two methods works in it, and its thread. Arguments:
 * requests; {@code virtual} or {@code platform}; {@code agent} or nothing.
 */
public class TracedService {
    private static final int DEPTH = 9;
    private static Tracer tracer;
    private static final ConcurrentLinkedQueue<String> spans = new ConcurrentLinkedQueue<>();

    private static void even(int depth) {
        Span span = start("even");
        try (Scope scope = span.makeCurrent()) {
            inEven(depth);
        } finally {
            span.end();
        }
    }

    private static void inEven(int depth) {
        workInEven();
        if (depth > 0) {
            odd(depth - 1);
        }
        workInEven();
    }

    private static void odd(int depth) {
        Span span = start("odd");
        try (Scope scope = span.makeCurrent()) {
            inOdd(depth);
        } finally {
            span.end();
        }
    }

    private static void inOdd(int depth) {
        workInOdd();
        if (depth > 0) {
            even(depth - 1);
        } else {
            Thread.yield();
        }
        workInOdd();
    }

    private static Span start(String name) {
        Span span = tracer.spanBuilder(name).startSpan();
        SpanContext ids = span.getSpanContext();
        long thread = Thread.currentThread().getId();
        spans.add(String.join(" ", "span", ids.getSpanId(), ids.getTraceId(), name, "" + thread));
        return span;
    }

    private static void workInEven() {
        Work.spin(100_000);
    }

    private static void workInOdd() {
        Work.spin(100_000);
    }

    /** Once in a request, and so longer than the others. */
    private static void workInNone() {
        Work.spin(300_000);
    }

    private static void request() {
        even(DEPTH);
        workInNone();
    }

    public static void main(String[] args) throws Exception {
        tracer = args.length > 2
                ? GlobalOpenTelemetry.getTracer("test")
                : SdkTracerProvider.builder().build().get("test");
        ExecutorService threads = Threads.of(args[1]);
        List<Future<?>> requests = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            requests.add(threads.submit(TracedService::request));
        }
        for (Future<?> request : requests) {
            request.get();
        }
        threads.shutdown();
        spans.forEach(System.out::println);
    }
}
