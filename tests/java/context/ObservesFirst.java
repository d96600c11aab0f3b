import com.sun.net.httpserver.HttpServer;
import io.ctxagent.AgentControl;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.Entry;
import io.ctxagent.observe.EntryType;
import java.io.File;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.EnumMap;
import java.util.Map;

/**
 * Observes its own HTTP server from its first statement on, and prints what it got of each type.
 * The recording is there ({@code there}), or begins later ({@code start OPTIONS}). {@code gc}
 * observes collections, and waits for an attach, by a file {@code attached}, and for one whose time
 * the agent has measured.
 */
public final class ObservesFirst {
    private static final int REQUESTS = 20;

    private static final Map<EntryType, Integer> counts = new EnumMap<>(EntryType.class);
    private static boolean isLastSeen;
    /** In more than the milliseconds that the VM tells. */
    private static volatile boolean isMeasured;

    public static void main(String[] args) throws Exception {
        ContextObserver observer = ContextObserver.create((entries, self) -> {
            for (Entry entry : entries) {
                see(entry);
            }
        });
        if (args[0].equals("gc")) {
            observer.observe(EntryType.GC);
            awaitMeasured();
            return;
        }
        observer.observe(EntryType.HTTP, EntryType.NET, EntryType.DNS);
        if (args[0].equals("start")) {
            AgentControl.execute(args[1]);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
        for (String path : new String[] {"/item", "/last"}) {
            server.createContext(path, exchange -> {
                exchange.sendResponseHeaders(200, -1);
                exchange.close();
            });
        }
        server.start();
        for (int i = 1; i < REQUESTS; i++) {
            get(server, "/item");
        }
        get(server, "/last");
        print();
        server.stop(0);
        System.exit(0);
    }

    private static void awaitMeasured() throws InterruptedException {
        System.out.println("ready");
        while (!new File("attached").exists()) {
            Thread.sleep(1);
        }
        while (!isMeasured) {
            System.gc();
            Thread.sleep(1);
        }
    }

    private static void get(HttpServer server, String path) throws Exception {
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + path);
        ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
    }

    private static synchronized void see(Entry entry) {
        counts.merge(entry.type(), 1, Integer::sum);
        isMeasured |= entry.duration().toNanos() % 1_000_000 != 0;
        if (entry.name().endsWith("/last")) {
            isLastSeen = true;
            ObservesFirst.class.notifyAll();
        }
    }

    private static synchronized void print() throws InterruptedException {
        while (!isLastSeen) {
            ObservesFirst.class.wait();
        }
        System.out.println("requests: " + counts.get(EntryType.HTTP));
        System.out.println("connects: " + counts.containsKey(EntryType.NET));
        System.out.println("names: " + counts.containsKey(EntryType.DNS));
    }
}
