import com.sun.net.httpserver.HttpServer;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextDetail;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.DelayMonitor;
import io.ctxagent.observe.DnsDetail;
import io.ctxagent.observe.DurationHistogram;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryList;
import io.ctxagent.observe.EntryType;
import io.ctxagent.observe.GcDetail;
import io.ctxagent.observe.Marks;
import io.ctxagent.observe.Milestone;
import io.ctxagent.observe.NetDetail;
import io.ctxagent.observe.Timed;
import io.ctxagent.observe.Utilization;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Each part of Node's perf_hooks, as a method here; prints a line for each. */
public final class PerfHooks {
    private interface Part {
        String show() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        print("create", PerfHooks::create);
        print("types", PerfHooks::types);
        print("buffered", PerfHooks::buffered);
        print("taken", PerfHooks::taken);
        print("supported", () -> ContextObserver.supportedEntryTypes().toString());
        print("lists", PerfHooks::lists);
        print("dropped", () -> "entries lost: " + firstBatch().dropped());
        print("entry", PerfHooks::entry);
        print("context", PerfHooks::context);
        print("marks", PerfHooks::marks);
        print("timed", PerfHooks::timed);
        print("http", PerfHooks::http);
        print("network", PerfHooks::network);
        print("scope", PerfHooks::scope);
        print("gc", PerfHooks::gc);
        print("milestones", PerfHooks::milestones);
        print("histogram", PerfHooks::histogram);
        print("delay", PerfHooks::delay);
        print("utilization", PerfHooks::utilization);
    }

    private static void print(String name, Part part) throws Exception {
        System.out.println(name + ": " + part.show());
        Marks.clearMarks();
        Marks.clearMeasures();
    }

    private static String create() throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        ContextObserver.Callback callback = (entries, observer) -> {
            for (Entry entry : entries) {
                seen.add(entry.type() + " " + entry.name());
            }
        };
        try (ContextObserver observer = ContextObserver.create(callback)) {
            observer.observe(EntryType.MARK);
            Marks.mark("loaded");
            return seen.take();
        }
    }

    private static String types() {
        try (ContextObserver observer = ContextObserver.create()) {
            observer.observe(EntryType.MARK, EntryType.FUNCTION);
            observer.observe(EntryType.MEASURE);
            Marks.mark("loaded");
            Marks.measure("warm-up");
            return names(observer.takeRecords());
        }
    }

    private static String buffered() {
        Marks.mark("early");
        try (ContextObserver observer = ContextObserver.create()) {
            observer.observe(EntryType.MARK, true);
            Marks.mark("late");
            return names(observer.takeRecords());
        }
    }

    private static String taken() {
        ContextObserver observer = ContextObserver.create();
        observer.observe(EntryType.MARK);
        Marks.mark("a");
        String first = names(observer.takeRecords());
        observer.disconnect();
        Marks.mark("b");
        return first + ", then " + names(observer.takeRecords());
    }

    private static String lists() throws Exception {
        EntryList list = firstBatch();
        return names(list.getEntries())
                + names(list.getEntriesByName("a"))
                + names(list.getEntriesByType(EntryType.MEASURE));
    }

    /** What a callback gets at first: the marks a and b, the measure of them. */
    private static EntryList firstBatch() throws Exception {
        BlockingQueue<EntryList> batches = new LinkedBlockingQueue<>();
        ContextObserver.Callback callback = (entries, self) -> batches.add(entries);
        try (ContextObserver observer = ContextObserver.create(callback)) {
            observer.observe(EntryType.MARK, EntryType.MEASURE);
            Marks.mark("a");
            Marks.mark("b");
            Marks.measure("a to b", "a", "b");
            return batches.take();
        }
    }

    private static String entry() {
        try (ContextObserver observer = ContextObserver.create()) {
            observer.observe(EntryType.MARK);
            Marks.mark("cache filled", 4_711);
            Entry entry = observer.takeRecords().get(0);
            boolean isNow = entry.startTime().toEpochMilli() <= System.currentTimeMillis();
            return entry.name() + ", " + entry.type() + ", started " + isNow + ", "
                    + entry.duration() + ", " + entry.detail();
        }
    }

    private static String context() {
        try (RecordingContext c = RecordingContext.where("tenant", "acme").build()) {
            return Marks.mark("paid").context().toString();
        }
    }

    private static String marks() {
        Marks.mark("begun");
        Marks.mark("done");
        Marks.measure("work", "begun", "done");
        String kept = names(Marks.getEntries());
        Marks.clearMarks();
        return kept + ", then " + names(Marks.getEntries());
    }

    private static String timed() {
        try (ContextObserver observer = ContextObserver.create()) {
            observer.observe(EntryType.FUNCTION);
            Timed.runnable("run", () -> {}).run();
            Timed.function("length", String::length).apply("abc");
            Timed.stage("stage", () -> CompletableFuture.completedFuture(1)).get();
            return names(observer.takeRecords());
        }
    }

    private static String http() throws Exception {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/orders", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/orders");
        // The agent sees requests from the first one on.
        status(uri);
        String detail = await(EntryType.HTTP, entry -> true, () -> status(uri)).detail() + "";
        server.stop(0);
        return detail;
    }

    private static int status(URI uri) throws Exception {
        return ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
    }

    private static String network() throws Exception {
        try (ContextObserver observer = ContextObserver.create();
                ServerSocket server = new ServerSocket(0)) {
            observer.observe(EntryType.NET, EntryType.DNS);
            new Socket("localhost", server.getLocalPort()).close();
            List<Entry> entries = observer.takeRecords();
            DnsDetail dns = (DnsDetail) entries.get(0).detail();
            NetDetail net = (NetDetail) entries.get(1).detail();
            return entries.get(0).name() + " has addresses " + !dns.addresses().isEmpty()
                    + ", connected to " + net.host() + " " + (net.failure() == null);
        }
    }

    private static String scope() {
        try (ContextObserver observer = ContextObserver.create()) {
            observer.observe(EntryType.CONTEXT);
            byte[] order;
            try (RecordingContext c = RecordingContext.where("tenant", "acme").build()) {
                order = new byte[1 << 20];
            }
            Entry entry = observer.takeRecords().get(0);
            ContextDetail detail = (ContextDetail) entry.detail();
            return entry.context() + " allocated " + (detail.allocatedBytes() >= order.length)
                    + ", used CPU " + !detail.cpu().isZero();
        }
    }

    private static String gc() throws Exception {
        Predicate<Entry> isOurs =
                entry -> ((GcDetail) entry.detail()).flags().contains(GcDetail.Flag.FORCED);
        Entry entry = await(EntryType.GC, isOurs, () -> {
            System.gc();
            return 0;
        });
        GcDetail detail = (GcDetail) entry.detail();
        return detail.kind() + ", " + detail.cause() + ", paused "
                + !detail.pause().isZero();
    }

    private static String milestones() {
        StringBuilder names = new StringBuilder();
        for (Milestone milestone : Milestone.values()) {
            names.append(milestone.sinceStart() == null ? "" : milestone + " ");
        }
        return names.toString().trim();
    }

    private static String histogram() {
        DurationHistogram histogram = new DurationHistogram();
        for (int i = 1; i <= 100; i++) {
            histogram.record(i);
        }
        return histogram.count() + " times, median " + histogram.percentile(50).toNanos() + " ns";
    }

    private static String delay() {
        try (DelayMonitor monitor = DelayMonitor.ofPlatformThreads(Duration.ofMillis(1))) {
            monitor.enable();
            while (monitor.histogram().count() == 0) {
                Thread.onSpinWait();
            }
            return "measured " + !monitor.histogram().max().isNegative();
        }
    }

    private static String utilization() {
        Utilization before = Utilization.ofThreads("main");
        Utilization busy = before;
        while (busy.since(before).active().toMillis() < 20) {
            busy = Utilization.ofThreads("main");
        }
        return busy.threads() + " thread, busy " + (busy.since(before).utilization() > 0);
    }

    /** Does something until an entry of it is there. */
    private static Entry await(EntryType type, Predicate<Entry> isOurs, Callable<?> action)
            throws Exception {
        BlockingQueue<Entry> seen = new LinkedBlockingQueue<>();
        ContextObserver.Callback callback = (entries, self) ->
                entries.getEntriesByType(type).stream().filter(isOurs).forEach(seen::add);
        try (ContextObserver observer = ContextObserver.create(callback)) {
            observer.observe(type);
            while (true) {
                action.call();
                Entry entry = seen.poll(1, TimeUnit.SECONDS);
                if (entry != null) {
                    return entry;
                }
            }
        }
    }

    private static String names(List<Entry> entries) {
        return entries.stream().map(Entry::name).collect(Collectors.toList()).toString();
    }
}
