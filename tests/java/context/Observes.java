import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryType;
import io.ctxagent.observe.HttpDetail;
import io.ctxagent.observe.Marks;
import io.ctxagent.observe.Milestone;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * An application that observes its own HTTP server: begins to before there is a recording, asks for
 * two pages, prints the entries that it got.
 */
public final class Observes {
    /** Some twenty samples. */
    private static final long BUSY_NANOS = 200_000_000;

    /** Of all requests; only the callback adds to it. */
    private static volatile int samples;

    private static final List<String> seen = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        ContextObserver observer = ContextObserver.create((entries, self) -> {
            for (Entry entry : entries) {
                samples += ((HttpDetail) entry.detail()).samples();
                add(entry.name() + ": " + entry.detail() + " " + entry.context());
            }
        });
        observer.observe(EntryType.HTTP);
        AgentControl.execute("start,labels=route,file=app.jfr");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/orders", Observes::answer);
        // A thread that nobody labels otherwise.
        server.setExecutor(Executors.newSingleThreadExecutor(Observes::daemon));
        server.start();
        // The sources are there with the recording; the observer finds them within a second.
        while (!hasEntries()) {
            get(server, "/orders/1");
        }
        get(server, "/orders/busy");
        get(server, "/orders/missing");
        await("404");
        System.out.println("sampled: " + (samples > 0));
        observer.disconnect();
        System.out.println("context within: " + contextWithin);
        boolean isInOrder = Milestone.PROCESS_START.nanos() < Milestone.AGENT_LOADED.nanos()
                && Milestone.AGENT_LOADED.nanos() < Milestone.VM_INITIALISED.nanos()
                && Milestone.VM_INITIALISED.nanos() < Milestone.FIRST_REQUEST.nanos();
        System.out.println("milestones in order: " + isInOrder);
        try (RecordingContext c = RecordingContext.where("tenant", "acme").build()) {
            Marks.mark("served");
            Marks.measure("serving", "served");
        }
        synchronized (seen) {
            System.out.println(seen.get(0));
            System.out.println(seen.get(seen.size() - 1));
        }
        server.stop(0);
    }

    private static volatile String contextWithin;

    private static void answer(HttpExchange exchange) throws IOException {
        contextWithin = RecordingContext.describe();
        if (exchange.getRequestURI().getPath().endsWith("busy")) {
            burn();
        }
        boolean isMissing = exchange.getRequestURI().getPath().endsWith("missing");
        exchange.sendResponseHeaders(isMissing ? 404 : 200, -1);
        exchange.close();
    }

    private static void burn() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + BUSY_NANOS;
        while (threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    private static void get(HttpServer server, String path) throws IOException {
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
        ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
    }

    private static void add(String entry) {
        synchronized (seen) {
            seen.add(entry);
            seen.notifyAll();
        }
    }

    private static boolean hasEntries() {
        synchronized (seen) {
            return !seen.isEmpty();
        }
    }

    private static void await(String status) throws InterruptedException {
        synchronized (seen) {
            while (!seen.get(seen.size() - 1).contains(status)) {
                seen.wait();
            }
        }
    }
}
