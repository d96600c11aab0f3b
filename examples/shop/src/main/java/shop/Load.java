package shop;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Customers of the shop: each has a connection, sends a request, waits for the answer, sends the
 * next. Warms up, says {@code measuring}, goes on for a time or a number of requests, says {@code
 * served REQUESTS NANOS FAILED}.
 */
public final class Load {
    private static final String[] TENANTS = {"acme", "globex", "initech", "umbrella"};
    private static final int[] TENANT_PERCENT = {50, 30, 15, 5};
    private static final String[] WORDS = {"red", "chair", "wooden", "lamp", "large", "desk"};

    private final Options options;
    private final AtomicLong served = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile boolean stop;

    private Load(Options options) {
        this.options = options;
    }

    public static void main(String[] args) throws Exception {
        new Load(Options.parse(args)).run();
    }

    private void run() throws Exception {
        List<Thread> customers = new ArrayList<>();
        for (int i = 0; i < options.clients; i++) {
            Random random = new Random(i);
            Thread customer = new Thread(() -> shop(random), "customer-" + i);
            customers.add(customer);
            customer.start();
        }
        Thread.sleep(options.warmup * 1000);
        System.out.println("measuring");
        long before = served.get();
        long start = System.nanoTime();
        if (options.requests > 0) {
            // Fine enough: a thousandth of a run of some seconds.
            while (served.get() - before < options.requests && !stop) {
                Thread.sleep(1);
            }
        } else {
            long end = start + options.seconds * 1_000_000_000L;
            while (System.nanoTime() < end && !stop) {
                Thread.sleep(Math.max(1, Math.min(1000, (end - System.nanoTime()) / 1_000_000)));
            }
        }
        long requests = served.get() - before;
        long nanos = System.nanoTime() - start;
        stop = true;
        for (Thread customer : customers) {
            customer.join(10_000);
        }
        System.out.println("served " + requests + " " + nanos + " " + failed.get());
    }

    private void shop(Random random) {
        try (Connection front = new Connection(options.front);
                Connection office = new Connection(options.office)) {
            Deck pages = new Deck(random);
            Deck tenants = new Deck(random);
            while (!stop) {
                String tenant = tenant(tenants.percent());
                int choice = pages.percent();
                boolean ok;
                if (choice < 45) {
                    ok = front.get("/product?id=" + random.nextInt(Store.PRODUCTS), tenant);
                } else if (choice < 70) {
                    ok = front.get("/search?q=" + WORDS[random.nextInt(WORDS.length)], tenant);
                } else if (choice < 95) {
                    ok = front.get("/checkout?id=" + random.nextInt(Store.PRODUCTS), tenant);
                } else {
                    ok = office.get("/report", tenant);
                }
                (ok ? served : failed).incrementAndGet();
            }
        } catch (IOException e) {
            if (!stop) {
                stop = true;
                System.err.println("load: " + e);
                failed.incrementAndGet();
            }
        }
    }

    /**
     * Random numbers of 0 to 99, of which each twenty in turn are spread evenly: a short time sees
     * the same mix of requests as a long one.
     */
    private static final class Deck {
        private static final int CARDS = 20;
        private final Random random;
        private final int[] cards = new int[CARDS];
        private int left;

        Deck(Random random) {
            this.random = random;
            Arrays.setAll(cards, card -> card);
        }

        int percent() {
            if (left == 0) {
                left = CARDS;
            }
            int drawn = random.nextInt(left--);
            int card = cards[drawn];
            cards[drawn] = cards[left];
            cards[left] = card;
            int width = 100 / CARDS;
            return card * width + random.nextInt(width);
        }
    }

    private static String tenant(int percent) {
        int at = 0;
        while (percent >= TENANT_PERCENT[at]) {
            percent -= TENANT_PERCENT[at++];
        }
        return TENANTS[at];
    }

    /** As little HTTP as a customer needs: what the client costs, the shop does not get. */
    private static final class Connection implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        Connection(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            in = new BufferedInputStream(socket.getInputStream());
            out = socket.getOutputStream();
        }

        /** Whether the answer was 200. */
        boolean get(String path, String tenant) throws IOException {
            out.write(
                    ("GET " + path + " HTTP/1.1\r\nHost: shop\r\nX-Tenant: " + tenant + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            boolean ok = line().startsWith("HTTP/1.1 200 ");
            int length = 0;
            for (String header = line(); !header.isEmpty(); header = line()) {
                if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
                    length = Integer.parseInt(header.substring(15).trim());
                }
            }
            in.skipNBytes(length);
            return ok;
        }

        private String line() throws IOException {
            StringBuilder text = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new EOFException("the shop closed the connection");
                }
                if (c != '\r') {
                    text.append((char) c);
                }
            }
            return text.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
