package service;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.context.WebServerApplicationContext;

/**
 * {@link SpringService} under clients of its own process, while recordings with labels and without
 * take turns with none: {@code ROUNDS MILLIS CLIENTS}. Prints a line for each phase: what was on,
 * requests, microseconds, CPU microseconds of the process; and at the end the requests and the heap
 * in use after a collection, before and after.
 */
public final class LabelCosts {
    private static final String RECORDING = "file=label-costs.jfr,overwrite,labels=";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final ObjectName agent;
    private final OperatingSystemMXBean process =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final LongAdder requests = new LongAdder();
    private volatile boolean ends;

    private LabelCosts() throws Exception {
        agent = new ObjectName("io.ctxagent:type=Agent");
    }

    public static void main(String[] args) throws Exception {
        int[] numbers = new int[3];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Integer.parseInt(args[i]);
        }
        try (var context = SpringApplication.run(SpringService.class)) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
            new LabelCosts().measure(port, numbers[0], numbers[1], numbers[2]);
        }
    }

    private void measure(int port, int rounds, long millis, int clients) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            Thread thread = new Thread(() -> ask(port));
            thread.start();
            threads.add(thread);
        }
        // Every kind of phase is compiled before any counts.
        for (int i = 0; i < 5; i++) {
            round(millis, false);
        }
        long before = heap();
        for (int i = 0; i < rounds; i++) {
            round(millis, true);
        }
        long after = heap();
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("heap " + requests.sum() + " " + before + " " + after);
    }

    private void ask(int port) {
        Client client = new Client("http://127.0.0.1:" + port);
        for (int i = 0; !ends; i++) {
            client.get("/light/" + i);
            requests.increment();
        }
    }

    private void round(long millis, boolean counts) throws Exception {
        phase("off", millis, counts);
        recording("none", millis, counts);
        recording("auto", millis, counts);
    }

    private void recording(String labels, long millis, boolean counts) throws Exception {
        Object[] options = {RECORDING + labels};
        server.invoke(agent, "start", options, new String[] {String.class.getName()});
        phase(labels, millis, counts);
        server.invoke(agent, "stop", new Object[0], new String[0]);
    }

    private void phase(String name, long millis, boolean counts) throws InterruptedException {
        Thread.sleep(millis / 10); // what starting or stopping left behind
        long first = requests.sum();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        Thread.sleep(millis);
        long nanos = System.nanoTime() - start;
        cpu = process.getProcessCpuTime() - cpu;
        long served = requests.sum() - first;
        if (counts) {
            System.out.printf("phase %s %d %d %d%n", name, served, nanos / 1000, cpu / 1000);
        }
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
