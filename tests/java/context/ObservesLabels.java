import com.sun.management.ThreadMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextDetail;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Observes the scopes in which the agent's labels have requests run, and its own ones. Begins to
 * before there is a recording.
 */
public final class ObservesLabels {
    private static final long BUSY_NANOS = 100_000_000;
    private static final int BYTES = 10_000_000;

    private static final ContextObserver observer = ContextObserver.create();
    /** Requests of which the thread is done, after their scopes. */
    private static final Semaphore served = new Semaphore(0);

    /** What the handler of the busy request measured. */
    private static volatile long startNanos;

    private static volatile long endNanos;
    private static volatile long cpuNanos;
    private static volatile byte[] garbage;

    public static void main(String[] args) throws Exception {
        observer.observe(EntryType.CONTEXT);
        AgentControl.execute("start,interval=1ms,labels=route,file=app.jfr");
        HttpServer server = serve(false);
        observe("platform", server);
        if (Threads.hasVirtual()) {
            HttpServer ofVirtual = serve(true);
            observe("virtual", ofVirtual);
            ofVirtual.stop(0);
        }
        observer.disconnect();
        get(server, "unseen");
        System.out.println("disconnected: " + observer.takeRecords());
        server.stop(0);
    }

    private static HttpServer serve(boolean virtual) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/orders", ObservesLabels::answer);
        server.setExecutor(task -> Threads.start(virtual, "serves", () -> {
            task.run();
            served.release();
        }));
        server.start();
        return server;
    }

    private static void observe(String threads, HttpServer server) throws Exception {
        // The sources are there with the recording; the observer finds them within a second.
        do {
            get(server, "early");
        } while (observer.takeRecords().isEmpty());
        Entry busy;
        long before;
        long after;
        do {
            before = System.nanoTime();
            get(server, "busy");
            after = System.nanoTime();
            busy = observer.takeRecords().get(0);
        } while (samples(busy) == 0); // of a request that has little CPU time there may be none
        get(server, "nested");
        List<Entry> entries = new ArrayList<>(List.of(busy));
        entries.addAll(observer.takeRecords());
        for (Entry entry : entries) {
            System.out.println(threads + ": " + entry.name() + " " + entry.context());
        }
        long end = busy.startNanos() + busy.duration().toNanos();
        boolean isWithin = before <= busy.startNanos() && end <= after;
        boolean isAround = busy.startNanos() <= startNanos && endNanos <= end;
        System.out.println(threads + ": " + (isWithin && isAround) + " sampled, " + costs(busy));
    }

    private static int samples(Entry entry) {
        return ((ContextDetail) entry.detail()).samples();
    }

    private static String costs(Entry busy) {
        ContextDetail detail = (ContextDetail) busy.detail();
        if (detail.cpu() == null) {
            return detail.allocatedBytes() + " bytes";
        }
        long cpu = detail.cpu().toNanos();
        boolean isCpu = cpuNanos <= cpu && cpu <= busy.duration().toNanos();
        boolean isBytes = BYTES <= detail.allocatedBytes() && detail.allocatedBytes() < 2 * BYTES;
        return "CPU " + isCpu + ", bytes " + isBytes;
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        if (path.endsWith("busy")) {
            startNanos = System.nanoTime();
            burn();
            garbage = new byte[BYTES];
            endNanos = System.nanoTime();
        } else if (path.endsWith("nested")) {
            RecordingContext.where("tenant", "acme").build().close();
        }
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private static void burn() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        boolean isCounted = !Thread.currentThread().getName().isEmpty();
        long cpuBefore = isCounted ? threads.getCurrentThreadCpuTime() : 0;
        while (System.nanoTime() - startNanos < BUSY_NANOS) {
            Thread.onSpinWait();
        }
        cpuNanos = isCounted ? threads.getCurrentThreadCpuTime() - cpuBefore : 0;
    }

    private static void get(HttpServer server, String page) throws Exception {
        URI uri =
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/orders/" + page);
        ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
        served.acquire();
    }
}
