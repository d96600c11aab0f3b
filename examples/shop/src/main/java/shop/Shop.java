package shop;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * A shop with real parts: the JDK's HTTP server on virtual and platform threads, an embedded
 * database, and customers in a second process. {@code java -cp 'build/app/*' shop.Shop
 * --seconds=20}.
 *
 * <p>What is to be seen in a recording of it is in {@link Pages}: each request names its endpoint
 * and its tenant.
 */
public final class Shop {
    private static final int POOL = 4;

    private final Options options;
    private final List<ExecutorService> pools = new ArrayList<>();

    private Shop(Options options) {
        this.options = options;
    }

    public static void main(String[] args) throws Exception {
        // A response in two small packets would wait for the client's delayed acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        try {
            new Shop(Options.parse(args)).run();
        } catch (IllegalArgumentException wrong) {
            System.err.println("shop: " + wrong.getMessage());
            System.exit(2);
        }
    }

    private void run() throws Exception {
        Pages pages = new Pages(new Store());
        // Customers are served by virtual threads, the back office by a small pool, as many a shop
        // has grown.
        HttpServer front = serve(
                options.frontVirtual(),
                Map.of(
                        "/search",
                        pages::search,
                        "/product",
                        pages::product,
                        "/checkout",
                        pages::checkout));
        HttpServer office = serve(options.officeVirtual(), Map.of("/report", pages::report));
        try {
            if (options.seconds == 0 && options.requests == 0) {
                System.out.println("shop: http://127.0.0.1:" + port(front)
                        + "/search?q=chair (also /product?id=1, /checkout?id=1), "
                        + "http://127.0.0.1:" + port(office)
                        + "/report; header X-Tenant names the tenant; stop with ctrl-c");
                Thread.currentThread().join();
            }
            letCustomersIn(port(front), port(office));
        } finally {
            front.stop(0);
            office.stop(0);
            pools.forEach(ExecutorService::shutdown);
        }
    }

    private static int port(HttpServer server) {
        return server.getAddress().getPort();
    }

    /** A server for these pages, by path, on a free port. */
    private HttpServer serve(boolean virtual, Map<String, HttpHandler> pages) throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        pages.forEach((path, page) -> server.createContext(path, exchange -> {
            page.handle(exchange);
            Alternation.SERVED.increment();
        }));
        server.setExecutor(executor(virtual));
        server.start();
        return server;
    }

    private Executor executor(boolean virtual) {
        ExecutorService pool = virtual
                ? virtualThreads()
                : Executors.newFixedThreadPool(POOL, body -> new Thread(body, "request-office"));
        pools.add(pool);
        return pool;
    }

    /**
     * By name: this file is compiled for Java 17, which has none. {@code
     * Thread.ofVirtual().name("request").factory()}.
     */
    private static ExecutorService virtualThreads() {
        try {
            Class<?> builders = Class.forName("java.lang.Thread$Builder");
            Object builder = builders.getMethod("name", String.class)
                    .invoke(Thread.class.getMethod("ofVirtual").invoke(null), "request");
            Object factory = builders.getMethod("factory").invoke(builder);
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, factory);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("--threads=virtual needs JDK 21, this is "
                    + Runtime.version().feature());
        }
    }

    // ---- the customers --------------------------------------------------------------------------

    /**
     * Runs {@link Load} in a process of its own, so that its CPU time is not the shop's, and says
     * how the shop did.
     */
    private void letCustomersIn(int front, int office) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "shop.Load",
                "--front=" + front,
                "--office=" + office));
        command.addAll(options.forLoad());
        Process load = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(load::destroy));
        long cpuBefore = 0;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(load.getInputStream()))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals("measuring") && options.alternate > 0) {
                    new Alternation(options.alternate, options.phase, options.recording).run();
                    load.destroy();
                    load.waitFor(); // before the servers stop, or it would tell that they did
                    return;
                } else if (line.equals("measuring")) {
                    cpuBefore = cpuNanos();
                } else if (line.startsWith("served ")) {
                    tell(line.split(" "), cpuNanos() - cpuBefore);
                } else {
                    System.out.println(line);
                }
            }
        }
        if (load.waitFor() != 0) {
            throw new IllegalStateException(
                    "the load generator ended with exit code " + load.exitValue());
        }
    }

    /** "served REQUESTS NANOS FAILED". */
    private void tell(String[] served, long cpu) {
        long requests = Long.parseLong(served[1]);
        double seconds = Long.parseLong(served[2]) / 1e9;
        System.out.println(String.format(
                Locale.ROOT,
                "shop: %d requests in %.1f s: %.1f requests/s, %.3f ms of CPU each, %s failed, %s",
                requests,
                seconds,
                requests / seconds,
                cpu / 1e6 / requests,
                served[3],
                options.threads()));
    }

    private static long cpuNanos() {
        var system = (com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime();
    }
}
