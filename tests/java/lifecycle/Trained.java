import com.sun.net.httpserver.HttpServer;
import io.ctxagent.RecordingContext;
import io.ctxagent.observe.ContextObserver;
import io.ctxagent.observe.EntryType;
import java.io.File;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Uses what hooks of the agent change in the JDK, and works under a label. {@code await} does so
 * before and after a file {@code attached} is there.
 */
public final class Trained {
    public static void main(String[] args) throws Exception {
        useHookedClasses();
        if (args[0].equals("await")) {
            System.out.println("ready");
            while (!new File("attached").exists()) {
                LockSupport.parkNanos(10_000_000);
            }
            useHookedClasses();
        }
        if (args[0].equals("observe")) {
            try (ContextObserver observer = ContextObserver.create()) {
                observer.observe(EntryType.NET, EntryType.DNS, EntryType.HTTP);
                useHookedClasses();
            }
        }
        try (RecordingContext context = RecordingContext.where("who", "self").build()) {
            Cpu budget = Cpu.ofThisThread(300);
            while (budget.isLeft()) {
                Work.spin(100_000);
            }
        }
        System.out.println("end");
    }

    private static void useHookedClasses() throws Exception {
        ForkJoinPool.commonPool().submit(() -> {}).get();
        CompletableFuture.runAsync(() -> {}).thenRun(() -> {}).get();
        ExecutorService pool = Executors.newSingleThreadExecutor();
        pool.submit(() -> {}).get();
        pool.shutdown();
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1);
        scheduled.schedule(() -> {}, 1, TimeUnit.MILLISECONDS).get();
        scheduled.shutdown();
        Thread thread = new Thread(() -> {});
        thread.start();
        thread.join();
        useTimer();
        LockSupport.parkNanos(1_000);
        try {
            throw new IllegalStateException("recorded");
        } catch (IllegalStateException expected) {
            askServer();
        }
    }

    private static void useTimer() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        Timer timer = new Timer();
        timer.schedule(
                new TimerTask() {
                    @Override
                    public void run() {
                        ran.countDown();
                    }
                },
                1);
        ran.await();
        timer.cancel();
    }

    private static void askServer() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
        ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
        server.stop(0);
    }
}
