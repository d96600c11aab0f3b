package service;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Work that Micrometer observes: in a request of the JDK's server, in jobs, and in requests of a
 * server that nothing is known of. The argument says how often.
 */
public class ObservedService {
    /** Enough that each method has many samples on a busy machine, too. */
    private static final int ROUNDS = 1_000_000;

    private static final ObservationRegistry REGISTRY = ObservationRegistry.create();

    /** Names work where it ends, as those of Spring do. */
    private record Convention(String name, String contextualName)
            implements ObservationConvention<Observation.Context> {
        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getContextualName(Observation.Context context) {
            return contextualName;
        }
    }

    private static Observation observation(String name) {
        return Observation.createNotStarted(name, REGISTRY);
    }

    private static Observation observation(String name, String contextualName) {
        Convention convention = new Convention(name, contextualName);
        return Observation.createNotStarted(convention, REGISTRY);
    }

    private static void inRequest() {
        Work.spin(ROUNDS);
    }

    private static void refresh() {
        Work.spin(ROUNDS);
    }

    private static void fetch() {
        Work.spin(ROUNDS);
    }

    private static void fetchElsewhere() {
        Work.spin(ROUNDS);
    }

    private static void sendReports() {
        Work.spin(ROUNDS);
    }

    private static void evict() {
        Work.spin(ROUNDS);
    }

    private static void prices() {
        Work.spin(ROUNDS);
    }

    private static void notObserved() {
        Work.spin(ROUNDS);
    }

    /** An observation in another one, which follows to the thread of a pool. */
    private static void refreshPrices(ExecutorService pool) {
        refresh();
        observation("prices.fetch").observe(() -> {
            fetch();
            ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();
            Runnable task = snapshots.captureAll().wrap(ObservedService::fetchElsewhere);
            try {
                pool.submit(task).get();
                pool.submit(ObservedService::notObserved).get();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        refresh();
    }

    public static void main(String[] args) throws Exception {
        REGISTRY.observationConfig().observationHandler(context -> true);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer server = HttpServer.create(any, 0);
        server.createContext("/orders", exchange -> {
            observation("orders.load").observe(ObservedService::inRequest);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        Client client = new Client("http://127.0.0.1:" + server.getAddress().getPort());
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            client.get("/orders");
            Observation job = observation("jobs.refresh").contextualName("refresh prices");
            job.observe(() -> refreshPrices(pool));
            notObserved();
            observation("tasks.scheduled.execution", "task reports.send")
                    .observe(ObservedService::sendReports);
            observation("cache.evict").observe(ObservedService::evict);
            observation("http.server.requests", "http get /prices/{id}")
                    .observe(ObservedService::prices);
            notObserved();
        }
        pool.shutdown();
        server.stop(0);
    }
}
