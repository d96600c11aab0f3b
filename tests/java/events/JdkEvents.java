import io.ctxagent.RecordingContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * What the JDK's recorder has events of, in scopes and outside of them: {@code ROUNDS MILLIS}. A
 * scope takes at least so long. Prints for each kind of event how many there are by the operation
 * that a reader can know; {@code (unknown)} where a shorter scope has changed it, or there is none.
 * Those of a {@link JdkShop} come beside.
 */
public final class JdkEvents {
    private interface Wait {
        void run() throws Exception;
    }

    private static final String UNKNOWN = "(unknown)";
    private static final Map<String, Integer> COUNTS = new TreeMap<>();
    private static final Object MONITOR = new Object();
    private static long millis;
    private static ServerSocket server;
    private static FileChannel file;

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        millis = Long.parseLong(args[1]);
        file = FileChannel.open(
                Path.of("forced"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread answers = new Thread(JdkEvents::answer, "server");
        answers.setDaemon(true);
        answers.start();
        InetSocketAddress backend =
                new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
        boolean[] kinds = Runtime.version().feature() < 21
                ? new boolean[] {false}
                : new boolean[] {false, true};
        for (boolean virtual : kinds) {
            // Threads wait for a class that another initialises: one thread alone comes first.
            load(virtual, 1, 7);
            load(virtual, 8, rounds);
            JdkShop.serve(virtual, backend, millis * 1_000_000 / 2);
        }
        COUNTS.forEach((what, count) -> System.out.println(what + " " + count));
    }

    private static void load(boolean virtual, int threads, int rounds) throws Exception {
        Threads.join(Threads.start(virtual, threads, "load", i -> {
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                for (int round = 0; round < rounds; round++) {
                    handle(i + round, virtual, socket);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
    }

    /** One request, of which the number says what it waits for. */
    private static void handle(int number, boolean virtual, Socket socket) throws Exception {
        String operation = "operation " + number % 3;
        switch (number % 7) {
            case 0:
                in(operation, "jdk.ThreadSleep", () -> Thread.sleep(millis));
                break;
            case 1:
                in(operation, "jdk.SocketRead", () -> ask(socket));
                break;
            case 2:
                in(operation, "jdk.JavaMonitorWait", JdkEvents::waitForMonitor);
                break;
            case 3:
                // The recorder has no event of virtual threads that park.
                if (!virtual) {
                    in(operation, "jdk.ThreadPark", JdkEvents::park);
                }
                break;
            case 4:
                in(operation, "jdk.FileForce", JdkEvents::force);
                break;
            case 5:
                count("jdk.ThreadSleep", UNKNOWN);
                Thread.sleep(millis);
                break;
            default:
                nested(operation);
        }
    }

    private static void in(String operation, String event, Wait wait) throws Exception {
        count(event, operation);
        try (RecordingContext c = RecordingContext.where("operation", operation).build()) {
            try (RecordingContext step = RecordingContext.where("step", "short").build()) {
                Thread.yield();
            }
            wait.run();
            // Until the scope takes long enough, whatever the wait took.
            long end = System.nanoTime() + millis * 1_000_000;
            while (System.nanoTime() < end) {
                Thread.yield();
            }
        }
    }

    /** A longer scope in a scope, and one whose value a shorter one changes. */
    private static void nested(String operation) throws Exception {
        try (RecordingContext c = RecordingContext.where("operation", operation).build()) {
            count("jdk.ThreadSleep", operation);
            Thread.sleep(millis);
            in("inner " + operation, "jdk.ThreadSleep", () -> Thread.sleep(millis));
            count("jdk.ThreadSleep", operation);
            Thread.sleep(millis);
        }
        try (RecordingContext c = RecordingContext.where("operation", "changed").build()) {
            try (RecordingContext other =
                    RecordingContext.where("operation", "short").build()) {
                Thread.yield();
            }
            count("jdk.ThreadSleep", UNKNOWN);
            Thread.sleep(millis);
        }
    }

    static void ask(Socket socket) throws IOException {
        socket.getOutputStream().write(1);
        socket.getInputStream().read();
    }

    private static void waitForMonitor() throws InterruptedException {
        synchronized (MONITOR) {
            MONITOR.wait(millis);
        }
    }

    private static void park() {
        LockSupport.parkNanos(MONITOR, millis * 1_000_000);
    }

    private static void force() throws IOException {
        file.write(ByteBuffer.wrap(new byte[] {1}), 0);
        file.force(true);
    }

    private static synchronized void count(String event, String operation) {
        COUNTS.merge(event + " " + operation, 1, Integer::sum);
    }

    /** Answers late, each client in a thread of its own. */
    private static void answer() {
        try {
            while (true) {
                Socket client = server.accept();
                Thread thread = new Thread(() -> answer(client), "answers");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void answer(Socket client) {
        try (Socket socket = client) {
            InputStream requests = socket.getInputStream();
            while (requests.read() >= 0) {
                LockSupport.parkNanos(millis * 1_000_000);
                socket.getOutputStream().write(1);
            }
        } catch (IOException ended) {
            // The client has what it wanted.
        }
    }
}
